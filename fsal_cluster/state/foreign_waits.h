// ForeignWaits: who waits for a lock through other VNFSs (`wQ` of docs/formats/keys.md): a complete
// image, kept by the session's watch. It says whose turn it is: so VNFSs take turns at one file,
// and nobody has to ask again and again.
//
// A wait stands in the way of younger requests. But when its VNFS has not taken its turn for
// kYieldNs, counted from the first time that nothing else was in the way, none of its waits on that
// inode does until it writes there: it may be away, or its client may not want the lock any more.
//
// Thread class: thread-safe; its mutex is a leaf.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"
#include "common/env/clock.h"
#include "common/kv/follower.h"
#include "common/kv/session.h"
#include "fsal_cluster/state/lock_table.h"

namespace symnas::fs {

// Its mount is woken by a watch, and locks with one transaction: some 10 ms, more on a busy head.
inline constexpr std::int64_t kYieldNs = 1'000'000'000;

class ForeignWaits final : public kv::Follower {
 public:
  // `clock` outlives it.
  ForeignWaits(const env::Clock& clock, FsId fs, std::string vnfs)
      : clock_(clock), fs_(fs), vnfs_(std::move(vnfs)) {}
  // For SessionOptions::followed. REQUIRES: this object outlives the session.
  kv::SessionOptions::Followed followed();

  // `called` runs on the watch's thread whenever a waiter of this VNFS is told that it is its turn.
  // REQUIRES: called at most once.
  void on_called(std::function<void()> called);
  // A wait that has to be served before a request for `range` that waits since `since` (nullopt: it
  // does not wait), and that has not been yielded to for long enough yet. REQUIRES: nothing else is
  // in the way of the request.
  std::optional<LockConflict> older(Ino ino, const LockRange& range, std::optional<Revision> since);
  bool any_on(Ino ino) const;
  // The oldest wait on the inode, which is called now; nullopt: it was called within kYieldNs, or
  // one of this VNFS is older (`own`).
  struct Next {
    std::string key;
    std::string record;
    Revision revision;
  };
  std::optional<Next> next(Ino ino, std::optional<Revision> own);

  void on_image(const std::vector<kv::KeyValue>& image, Revision at) override;
  void on_events(const std::vector<kv::WatchEvent>& events, Revision newest) override;
  void on_lost() override;

 private:
  struct Wait {
    Ino ino;
    std::string vnfs;
    LockOwner owner;
    LockRange range;
    std::string record;
    Revision created;
    Revision changed;
    std::uint32_t called = 0;
    std::optional<std::int64_t> called_ns;  // when this mount has called it
  };
  // True: it is a waiter of this VNFS that was called.
  bool put(const kv::KeyValue& kv) REQUIRES(mutex_);
  void erase(const std::string& key) REQUIRES(mutex_);

  const env::Clock& clock_;
  const FsId fs_;
  const std::string vnfs_;
  mutable Mutex mutex_;
  std::map<std::string, Wait> waits_ GUARDED_BY(mutex_);  // by key: inode first
  // Since when others yield to that VNFS on that inode, until it writes there.
  std::map<std::pair<Ino, std::string>, std::int64_t> yielded_ns_ GUARDED_BY(mutex_);
  std::function<void()> called_ GUARDED_BY(mutex_);
};

}  // namespace symnas::fs
