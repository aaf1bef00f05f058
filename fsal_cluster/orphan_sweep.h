// OrphanSweep: finishes what ended mounts left behind: inodes that were unlinked while open, and
// dead maps of files. Runs once after a mount was opened, in the background, until nothing is left
// of what was there then.
//
// Thread class: thread-safe. Owns one thread; the destructor stops it between two orphans.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"

namespace symnas::fs {

// The orphans that exist now. Cost: kSweepPageKeys records per read. Errors: Session::range.
Result<std::vector<Ino>> list_orphans(Context& context);
// Finishes one orphan: nothing to do when it is gone, or held open by a mount that has not ended.
// Errors: those of end_orphan and FileData::sweep_orphan, kCorrupt.
Status sweep_orphan(Context& context, Ino ino);

class OrphanSweep {
 public:
  // Sweeps `orphans`. What fails (etcd away) is tried again after kSweepRetryMs. `context` outlives
  // it.
  OrphanSweep(Context& context, std::vector<Ino> orphans);
  ~OrphanSweep();
  OrphanSweep(const OrphanSweep&) = delete;
  OrphanSweep& operator=(const OrphanSweep&) = delete;

 private:
  void run();
  bool stopping();

  Context& context_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;         // guarded by mutex_
  std::vector<Ino> orphans_;  // of the thread only
  std::thread thread_;
};

}  // namespace symnas::fs
