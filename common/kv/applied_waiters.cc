#include "common/kv/applied_waiters.h"

#include <algorithm>
#include <utility>

namespace symnas::kv {

void AppliedWaiters::wait_for(Revision revision, std::function<void()> action) {
  {
    const MutexLock lock(mutex_);
    if (following_ && applied_ < revision) {
      waiting_.emplace(revision, std::move(action));
      return;
    }
  }
  action();
}

void AppliedWaiters::advance(Revision applied) {
  std::multimap<Revision, std::function<void()>> due;
  {
    const MutexLock lock(mutex_);
    if (!following_ || applied <= applied_) return;
    applied_ = applied;
    const auto end = waiting_.upper_bound(applied);
    for (auto it = waiting_.begin(); it != end;) due.insert(waiting_.extract(it++));
  }
  for (auto& [revision, action] : due) action();
}

std::vector<std::function<void()>> AppliedWaiters::drop() {
  std::vector<std::function<void()>> due;
  const MutexLock lock(mutex_);
  following_ = false;
  for (auto& [revision, action] : waiting_) due.push_back(std::move(action));
  waiting_.clear();
  return due;
}

void AppliedWaiters::note_barrier(Revision stamp) {
  const MutexLock lock(mutex_);
  if (!following_) passed_ = std::max(passed_, stamp);
}

Revision AppliedWaiters::follow(Revision applied) {
  const MutexLock lock(mutex_);
  following_ = true;
  applied_ = applied;
  return std::exchange(passed_, Revision(0));
}

}  // namespace symnas::kv
