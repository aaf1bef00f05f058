// OrphanSweep: finishes in the background what ended mounts left behind (inodes that were unlinked
// while open, dead maps of files), and removes nameless inodes after their last close on this
// mount.
//
// Thread class: thread-safe. Owns one thread; stop() and the destructor end it between two orphans.
// The next mount finds the orphans that are left then.
#pragma once

#include <vector>

#include "common/base/loop.h"
#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "fsal_cluster/ops/context.h"

namespace symnas::fs {

// The orphans that exist now. Cost: kSweepPageKeys records per read. Errors: Session::range.
Result<std::vector<Ino>> list_orphans(kv::Session& session, FsId fs);
// Finishes one orphan. Does nothing when it is gone, or held open by a mount that has not ended.
// Errors: those of end_orphan and FileData::sweep_orphan, kCorrupt.
Status sweep_orphan(Context& context, Ino ino);

class OrphanSweep {
 public:
  // Sweeps `orphans`. An orphan that fails (etcd away) is tried again after kSweepRetryMs.
  // `context` outlives it.
  OrphanSweep(Context& context, std::vector<Ino> orphans);
  ~OrphanSweep() { stop(); }
  // Notes the last close of a nameless inode. Never waits. At most one per open file is pending.
  void last_closed(Ino ino);
  // Idempotent.
  void stop() { loop_.stop(); }
  OrphanSweep(const OrphanSweep&) = delete;
  OrphanSweep& operator=(const OrphanSweep&) = delete;

 private:
  struct Job {
    Ino ino;
    enum class Why { kLeftBehind, kLastClose } why;
  };
  // Works on what has come; returns when to go on.
  std::int64_t turn();
  // Returns the jobs that failed.
  std::vector<Job> work(const std::vector<Job>& jobs);

  Context& context_;
  Mutex mutex_;
  std::vector<Job> jobs_ GUARDED_BY(mutex_);
  Loop loop_;  // last: it uses all else
};

}  // namespace symnas::fs
