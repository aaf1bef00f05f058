#include "fsal_cluster/data/range_lock.h"

#include <algorithm>

#include "common/base/check.h"

namespace symnas::fs {

bool RangeLock::blocked(std::size_t index) const {
  const Entry& mine = entries_[index];
  for (std::size_t i = 0; i < index; ++i) {
    const Entry& other = entries_[i];
    const bool conflict = mine.mode == Mode::kExclusive || other.mode == Mode::kExclusive;
    if (conflict && other.begin < mine.end && mine.begin < other.end) return true;
  }
  return false;
}

bool RangeLock::acquire(WaiterId id, std::uint64_t begin, std::uint64_t end, Mode mode) {
  entries_.push_back({id, begin, end, mode, false});
  entries_.back().held = !blocked(entries_.size() - 1);
  return entries_.back().held;
}

void RangeLock::release(WaiterId id, std::vector<WaiterId>& granted) {
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [id](const Entry& entry) { return entry.id == id; });
  CHECK(it != entries_.end() && it->held, "range lock released without being held");
  entries_.erase(it);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].held || blocked(i)) continue;
    entries_[i].held = true;
    granted.push_back(entries_[i].id);
  }
}

bool IoLock::acquire_shared(WaiterId id) {
  if (!exclusive_ && queue_.empty()) {
    ++shared_;
    return true;
  }
  queue_.emplace_back(id, false);
  return false;
}

bool IoLock::acquire_exclusive(WaiterId id) {
  if (!exclusive_ && shared_ == 0 && queue_.empty()) {
    exclusive_ = true;
    return true;
  }
  queue_.emplace_back(id, true);
  return false;
}

void IoLock::release_shared(std::vector<WaiterId>& granted) {
  CHECK(shared_ > 0);
  --shared_;
  grant(granted);
}

void IoLock::release_exclusive(std::vector<WaiterId>& granted) {
  CHECK(exclusive_);
  exclusive_ = false;
  grant(granted);
}

void IoLock::grant(std::vector<WaiterId>& granted) {
  while (!queue_.empty() && !exclusive_) {
    const auto [id, wants_exclusive] = queue_.front();
    if (wants_exclusive && shared_ > 0) return;
    queue_.pop_front();
    if (wants_exclusive) {
      exclusive_ = true;
    } else {
      ++shared_;
    }
    granted.push_back(id);
  }
}

}  // namespace symnas::fs
