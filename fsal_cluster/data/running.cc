#include "fsal_cluster/data/running.h"

namespace symnas::fs {

void Running::begin_operation() {
  const MutexLock lock(mutex_);
  ++operations_;
}

// Under the mutex: the data path may be destroyed as soon as it is free.
void Running::end_operation() {
  const MutexLock lock(mutex_);
  if (--operations_ == 0) ended_.notify_all();
}

void Running::wait_for_operations() {
  const MutexLock lock(mutex_);
  ended_.wait(mutex_, [this]() REQUIRES(mutex_) { return operations_ == 0; });
}

void Running::begin_erase() {
  const MutexLock lock(mutex_);
  ++erases_;
}

void Running::end_erase() {
  const MutexLock lock(mutex_);
  if (--erases_ == 0) ended_.notify_all();
}

void Running::wait_for_erases() {
  const MutexLock lock(mutex_);
  ended_.wait(mutex_, [this]() REQUIRES(mutex_) { return erases_ == 0; });
}

bool Running::begin_fetch() {
  const MutexLock lock(mutex_);
  if (fetching_stopped_) return false;
  ++fetches_;
  return true;
}

void Running::end_fetch() {
  {
    const MutexLock lock(mutex_);
    --fetches_;
  }
  ended_.notify_all();
}

void Running::stop_fetching() {
  const MutexLock lock(mutex_);
  fetching_stopped_ = true;
  ended_.wait(mutex_, [this]() REQUIRES(mutex_) { return fetches_ == 0; });
}

}  // namespace symnas::fs
