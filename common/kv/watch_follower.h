// WatchFollower: decides what the events of the watch mean: apply them, drop the cache, open a new
// watch, or stop.
//
// The watch is opened "from now"; once it is open, the stamp is read (the anchor). From then on the
// stamp's etcd version must arrive without a gap: every transaction that changes a watched key puts
// the stamp, so a missing version is a missing revision. Revisions must ascend. Anything else
// demands a resync: drop the cache, open a new watch from now, read a new anchor. When a watch ends
// because its connection is lost, a new one starts from the next revision and the cache stays.
//
// Thread class: thread-compatible. Pure: no clock, thread or store.
// Source: github.com/etcd-io/etcd, issues 15271 (a watch goes back in time), 18089 (events lost),
// 15220 (progress notifications overtake events: they are never used).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/kv/session.h"
#include "common/kv/store.h"

namespace symnas::kv {

class WatchFollower {
 public:
  explicit WatchFollower(const SessionOptions& options);

  // What to do next, in the order of the members.
  struct Step {
    bool read_anchor = false;             // read the stamp (linearizable) and call on_anchor()
    bool apply = false;                   // apply the events of this call to the cache
    std::optional<Revision> open_cache;   // facts of this revision and later may enter
    bool resync = false;                  // drop the cache, open a new watch from now
    std::optional<Revision> watch_from;   // open a new watch from this revision, keep the cache
    std::string reason;                   // of a resync, for the log
    std::optional<Error> disproof;        // the mount has ended
    std::vector<std::int64_t> stamps_ns;  // stamps seen
  };

  Step on_created(Revision revision);
  // The stamp as a linearizable read found it; nullopt: it does not exist.
  Step on_anchor(const std::optional<KeyValue>& stamp, Revision read_revision);
  Step on_events(const std::vector<WatchEvent>& events);
  Step on_ended(const Error& error);
  // Somebody else (a barrier that waited too long) demands a resync. No effect while one is under
  // way.
  Step on_too_late();

  // The newest revision whose events have come. It goes back when a new watch was opened at a
  // member that lags.
  Revision applied() const { return applied_; }

 private:
  enum class State { kOpening, kAnchoring, kFollowing };
  struct StampEvent {
    Revision revision;
    std::int64_t version = 0;  // 0: deleted
  };

  Step resync(std::string reason);
  // False: a version is missing.
  bool accept(const StampEvent& stamp);
  std::optional<Error> disproof(const WatchEvent& event) const;

  const std::string stamp_key_;
  const std::string mount_key_;
  const std::string ended_key_;
  const Revision mount_create_revision_;
  State state_ = State::kOpening;
  Revision applied_;
  Revision anchor_;                // stamps up to here are not checked
  std::int64_t last_version_ = 0;  // of the anchor, then of the last stamp
  std::vector<StampEvent> early_;  // stamps that came before the anchor
};

// The value of the stamp: 8 bytes, big endian, nanoseconds. nullopt: not a stamp.
std::optional<std::int64_t> decode_stamp(std::string_view value);

}  // namespace symnas::kv
