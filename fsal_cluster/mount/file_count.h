// FileCount: how many inodes a filesystem has, and how many more fit into etcd's quota: `df -i`.
// etcd counts keys by looking at each, so the count is remembered for a hundred times as long as it
// has taken: counting costs etcd at most a hundredth of its time.
//
// Thread class: thread-safe. Owns a thread from the first question on.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/ids.h"
#include "common/base/loop.h"
#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "common/env/clock.h"
#include "common/kv/quota.h"
#include "common/kv/session.h"
#include "fsal_cluster/ops/statfs.h"

namespace symnas::fs {

class FileCount {
 public:
  // All outlive it.
  FileCount(kv::Session& session, const env::Clock& clock, const kv::QuotaGauge& quota, FsId fs)
      : session_(session), clock_(clock), quota_(quota), fs_(fs) {}
  ~FileCount() { stop(); }
  FileCount(const FileCount&) = delete;
  FileCount& operator=(const FileCount&) = delete;

  // Blocks for the first count, and at most kFileCountWaitMs for a later one: the last count counts
  // then. Errors: kShutdown, those of Session::range.
  Result<FileUse> use();
  // Idempotent. Waits for a count under way.
  void stop();

 private:
  struct Count {
    std::uint64_t files = 0;
    std::int64_t until_ns = 0;  // monotonic: it is good until then
  };
  void count();

  kv::Session& session_;
  const env::Clock& clock_;
  const kv::QuotaGauge& quota_;
  const FsId fs_;
  Mutex mutex_;
  CondVar answered_;
  bool stop_ GUARDED_BY(mutex_) = false;
  bool asked_ GUARDED_BY(mutex_) = false;
  std::optional<Count> count_ GUARDED_BY(mutex_);
  std::optional<Error> failed_ GUARDED_BY(mutex_);  // the last count, if it did
  bool started_ GUARDED_BY(mutex_) = false;
  Loop loop_;  // last: it uses all else
};

}  // namespace symnas::fs
