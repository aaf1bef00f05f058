// OrphanWatch: handles last unlinks beside other mounts (several_mounts.md). It puts holds for the
// inodes that this mount has open, announces the revision up to which it has looked at orphans, and
// removes inodes that no mount holds any more.
//
// Thread class: thread-safe. Owns one thread; stop() and the destructor end it between two inodes.
// Invariant: `looked` never passes an orphan that this mount has open and for which it has not put
// a hold in the store.
#pragma once

#include <atomic>
#include <set>

#include "common/base/ids.h"
#include "common/base/loop.h"
#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/state/open_orphans.h"
#include "fsal_cluster/state/peers.h"

namespace symnas::fs {

class OrphanWatch {
 public:
  // `claimed`: revision of this mount's record; of inodes that lost their last link before, this
  // mount has none open. All arguments outlive it.
  OrphanWatch(Context& context, const OpenOrphans& orphans, const Peers& peers, Revision claimed);
  ~OrphanWatch() { stop(); }
  OrphanWatch(const OrphanWatch&) = delete;
  OrphanWatch& operator=(const OrphanWatch&) = delete;

  // Tells the thread that something may have changed. Never waits.
  void wake() { loop_.wake(); }
  void stop() { loop_.stop(); }  // idempotent

  // The revision up to which this mount has looked at orphans, for the heartbeat.
  Revision looked() const { return Revision{looked_.load(std::memory_order_acquire)}; }
  // Whether an inode without links may be used here; `seen`: revision of its record. True only
  // where its removal waits for a last close. Waits until this mount has looked at the orphan.
  // REQUIRES: a caller that wants an open has counted it before.
  bool may_use(Ino ino, Revision seen);

 private:
  // False: something has to be tried again.
  bool round();
  Status hold(Ino ino);
  Status let_go(Ino ino);
  bool nobody_needs(const OpenOrphans::Orphan& orphan) const;

  Context& context_;
  const OpenOrphans& orphans_;
  const Peers& peers_;
  const Revision claimed_;
  std::atomic<std::int64_t> looked_{0};

  Mutex mutex_;  // before OpenFiles::mutex_
  // In the store, or on the way into it or out of it.
  std::set<Ino> held_ GUARDED_BY(mutex_);
  Loop loop_;  // last: it uses all else
};

}  // namespace symnas::fs
