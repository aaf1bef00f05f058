// OrphanSweep: finishes in the background what ended mounts left behind (inodes that were unlinked
// while open, dead maps of files), and removes nameless inodes after their last close on this
// mount.
//
// Thread class: thread-safe. Owns one thread; stop() and the destructor end it between two orphans.
// The next mount finds the orphans that are left then.
#pragma once

#include <thread>
#include <vector>

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
  ~OrphanSweep();
  // Notes the last close of a nameless inode. Never waits. At most one per open file is pending.
  void last_closed(Ino ino);
  // Idempotent.
  void stop();
  OrphanSweep(const OrphanSweep&) = delete;
  OrphanSweep& operator=(const OrphanSweep&) = delete;

 private:
  struct Job {
    Ino ino;
    enum class Why { kLeftBehind, kLastClose } why;
  };
  void run();
  // Returns the jobs that failed.
  std::vector<Job> work(const std::vector<Job>& jobs);
  bool stopping();

  Context& context_;
  Mutex mutex_;
  CondVar wake_;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::vector<Job> jobs_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace symnas::fs
