// Events: what happened in the cluster, for people and their monitoring. Each head keeps its last
// kEventsPerHead in etcd (e/<head>/<slot>, docs/formats/keys.md); nothing is decided by them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "common/kv/store.h"
#include "vnfsd/records/records.pb.h"

namespace symnas::vnfsd {

namespace event {
inline constexpr std::string_view kChange = "change";  // by an administrator, or ordered by a head
inline constexpr std::string_view kMoveOrdered = "move-ordered";
inline constexpr std::string_view kMoveRefused = "move-refused";
// How a VNFS came to be served (vnfsd/records/history.h): "start", "restart", "move", "failover".
inline constexpr std::string_view kEnded = "instance-ended";  // without being told to
inline constexpr std::string_view kFenceBegun = "fence-begun";
inline constexpr std::string_view kFenceFailed = "fence-failed";
inline constexpr std::string_view kFenced = "fenced";
inline constexpr std::string_view kHeadSilent = "head-silent";
inline constexpr std::string_view kHeadHeard = "head-heard";
inline constexpr std::string_view kHeadStarted = "head-started";
inline constexpr std::string_view kHeadDrained = "head-drained";
inline constexpr std::string_view kClockOff = "clock-off";
inline constexpr std::string_view kClockBack = "clock-back";
inline constexpr std::string_view kQuota = "quota";
inline constexpr std::string_view kVipTaken = "vip-taken";
}  // namespace event

// `subject` of the text is what stands before its first colon: "vnfs v1: ..." is about VNFS v1,
// "head c1n1: ..." about head c1n1. Its sequence is left out.
records::EventRecord make_event(std::string_view kind, const std::string& text, std::int64_t at_ns);

// Makes the op that writes an event; nullopt: none can be written now.
using EventSink = std::function<std::optional<kv::Op>(records::EventRecord)>;

// EventRing: the places of one head's events in etcd. Thread-safe.
class EventRing {
 public:
  explicit EventRing(std::string head) : head_(std::move(head)) {}

  // Goes on behind the last of the head's events. Nothing can be written before. Errors: those of
  // the store, kCorrupt.
  Status resume(kv::Store& store, std::int64_t deadline_ms);
  // Writes the event over the head's oldest; each call takes the next place.
  std::optional<kv::Op> put(records::EventRecord event);

 private:
  const std::string head_;
  Mutex mutex_;                                // leaf
  std::uint64_t next_ GUARDED_BY(mutex_) = 0;  // 0: not known yet
};

struct StoredEvent {
  Revision revision;
  std::string by;  // head that wrote it
  records::EventRecord record;
};

struct EventPage {
  Revision revision;                // nothing up to here comes later
  std::vector<StoredEvent> events;  // in the order in which they happened
  std::vector<std::string> lost;    // heads that may have written older ones after `after`
};

// The events that were written after that revision. Errors: those of the store, kCorrupt.
Result<EventPage> read_events(kv::Store& store, Revision after, std::int64_t deadline_ms);
nlohmann::json events_document(const EventPage& page);

}  // namespace symnas::vnfsd
