// AccessTimes: records when files were read, by the rule of Linux' relatime (mount(8)): an access
// time that is older than the last change, or than a day, becomes that of the read. A READ only
// notes that it happened; a thread looks at what was noted now and then and records it in a few
// transactions. So an access time is late by kAccessRoundMs at most, and those that were noted just
// before the mount ends are lost.
//
// Thread class: thread-safe; note() never blocks. Owns a thread.
// Invariant: what is recorded changes neither ctime nor the change attribute, and replaces no
// access time that is not older.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "common/base/ids.h"
#include "common/base/loop.h"
#include "common/base/thread_annotations.h"
#include "common/env/clock.h"
#include "common/kv/session.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs {

// Whether the rule has a file's access time replaced by one of `now_ns`.
bool relatime_fires(const records::Inode& inode, std::int64_t now_ns);
// The record with that access time, for a put beside a record of `mod_revision`.
records::Inode with_access_time(records::Inode inode, Revision mod_revision, std::int64_t atime_ns);

class AccessTimes {
 public:
  // Both outlive it. `enabled`: else nothing is noted (FilesystemRecord.access_times).
  AccessTimes(kv::Session& session, const env::Clock& clock, FsId fs, bool enabled);
  ~AccessTimes() { stop(); }
  AccessTimes(const AccessTimes&) = delete;
  AccessTimes& operator=(const AccessTimes&) = delete;

  // The file was read just now.
  void note(Ino ino) {
    if (enabled_ && is_news(ino)) add(ino);
  }
  // Idempotent. Waits for a transaction under way.
  void stop() { loop_.stop(); }
  // One round of the thread. Returns how many access times were recorded.
  std::size_t record();

 private:
  static constexpr std::size_t kSeen = 4096;  // files that a READ finds noted without a lock
  struct Seen {
    std::atomic<std::uint64_t> ino{0};
    std::atomic<std::uint64_t> round{0};
  };
  bool is_news(Ino ino) {
    Seen& seen = seen_[(ino.value() * 0x9E3779B97F4A7C15ULL) >> 52];
    const std::uint64_t round = round_.load(std::memory_order_relaxed);
    const bool known = seen.ino.load(std::memory_order_relaxed) == ino.value() &&
                       seen.round.load(std::memory_order_relaxed) == round;
    if (known) return false;
    seen.ino.store(ino.value(), std::memory_order_relaxed);
    seen.round.store(round, std::memory_order_relaxed);
    return true;
  }
  void add(Ino ino);
  std::size_t record_some(const std::vector<std::pair<Ino, std::int64_t>>& files);

  kv::Session& session_;
  const env::Clock& clock_;
  const FsId fs_;
  const bool enabled_;
  std::atomic<std::uint64_t> round_{1};
  std::array<Seen, kSeen> seen_;
  Mutex mutex_;                                           // leaf
  std::map<Ino, std::int64_t> noted_ GUARDED_BY(mutex_);  // when, ns
  Loop loop_;                                             // last: it uses all else
};

}  // namespace symnas::fs
