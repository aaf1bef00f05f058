// LockClearing: does what the store orders about locks of this mount's VNFS (state/lock_orders.h),
// so that no record goes away behind the back of the instance that believes in it.
//
// Thread class: owns one thread; the destructor ends it between two orders.
// Invariant: an order about a record is done or void before the order is erased, and void when the
// record is another one by then, or the order taken back or too old (LockOrders::is_valid).
#pragma once

#include <thread>

#include "common/base/result.h"
#include "fsal_cluster/mount/mount.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/state/file_locks.h"
#include "fsal_cluster/state/lock_orders.h"

namespace symnas::fs {

class LockClearing {
 public:
  // All outlive it.
  LockClearing(Context& context, FileLocks& locks, LockOrders& orders, ReleaseLocks release);
  ~LockClearing();
  LockClearing(const LockClearing&) = delete;
  LockClearing& operator=(const LockClearing&) = delete;

 private:
  void run();
  // Errors: those of ReleaseLocks and Session::commit.
  Status carry_out(const LockOrder& order);
  Status clear(const LockOrder& order);
  // Whether the store still says so: it may have been taken back. Errors: Session::range.
  Result<bool> is_given(const LockOrder& order);

  Context& context_;
  FileLocks& locks_;
  LockOrders& orders_;
  const ReleaseLocks release_;
  std::thread thread_;
};

}  // namespace symnas::fs
