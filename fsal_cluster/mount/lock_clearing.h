// LockClearing: carries out the orders about locks of this mount's VNFS (state/lock_orders.h), so
// that no lock record is erased without the instance that holds the lock in memory.
//
// Thread class: owns one thread; the destructor ends it between two orders.
// Invariant: an order is carried out, or is void, before it is erased. It is void when the lock
// record has changed since, or when the order was taken back or is too old (LockOrders::is_valid).
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
  // `context`, `locks` and `orders` outlive it.
  LockClearing(Context& context, FileLocks& locks, LockOrders& orders, ReleaseLocks release);
  ~LockClearing();
  LockClearing(const LockClearing&) = delete;
  LockClearing& operator=(const LockClearing&) = delete;

 private:
  void run();
  // Errors: those of ReleaseLocks and Session::commit.
  Status carry_out(const LockOrder& order);
  Status clear(const LockOrder& order);
  // Whether the order still stands in the store: it may have been taken back. Errors:
  // Session::range.
  Result<bool> is_given(const LockOrder& order);

  Context& context_;
  FileLocks& locks_;
  LockOrders& orders_;
  const ReleaseLocks release_;
  std::thread thread_;
};

}  // namespace symnas::fs
