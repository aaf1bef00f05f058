// OrphanWatch: last unlinks beside other mounts (several_mounts.md): holds what this mount has
// open, says up to where it has looked, and removes what nobody holds any more.
//
// Thread class: thread-safe. Owns one thread; stop() and the destructor end it between two inodes.
// Invariant: `looked` never passes an orphan that this mount has open and has not held in the
// store.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/state/open_orphans.h"
#include "fsal_cluster/state/peers.h"

namespace symnas::fs {

class OrphanWatch {
 public:
  // `claimed`: revision of this mount's record; it holds nothing that lost its links before. All
  // outlive it.
  OrphanWatch(Context& context, const OpenOrphans& orphans, const Peers& peers, Revision claimed);
  ~OrphanWatch();
  OrphanWatch(const OrphanWatch&) = delete;
  OrphanWatch& operator=(const OrphanWatch&) = delete;

  // Something may have changed. Never waits.
  void wake();
  void stop();  // idempotent

  // For the heartbeat.
  Revision looked() const { return Revision{looked_.load(std::memory_order_acquire)}; }
  // Whether an inode without links, as its record of revision `seen` says, may be used here: only
  // where its removal waits for a last close. Waits until this mount has looked at it. REQUIRES:
  // who asks for an open has counted it before.
  bool may_use(Ino ino, Revision seen);

 private:
  void run();
  // False: something is to be tried again.
  bool round();
  Status hold(Ino ino);
  Status let_go(Ino ino);
  bool nobody_needs(const OpenOrphans::Orphan& orphan) const;
  bool stopping();

  Context& context_;
  const OpenOrphans& orphans_;
  const Peers& peers_;
  const Revision claimed_;
  std::atomic<std::int64_t> looked_{0};

  std::mutex mutex_;  // before OpenFiles::mutex_
  std::condition_variable wake_;
  bool stop_ = false;   // guarded by mutex_
  bool woken_ = false;  // guarded by mutex_
  std::set<Ino> held_;  // in the store, or on the way into it or out of it; guarded by mutex_
  std::thread thread_;
};

}  // namespace symnas::fs
