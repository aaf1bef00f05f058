#include "fsal_cluster/state/foreign_locks.h"

#include <iterator>
#include <utility>

namespace symnas::fs {

void ForeignLocks::set(Ino ino, std::vector<ForeignLock> locks) {
  if (locks.empty()) {
    locks_.erase(ino);
  } else {
    locks_[ino] = std::move(locks);
  }
}

void ForeignLocks::add(Ino ino, ForeignLock lock) { locks_[ino].push_back(std::move(lock)); }

std::optional<ForeignLocks::Conflict> ForeignLocks::conflict(Ino ino,
                                                             const LockRange& range) const {
  const auto found = locks_.find(ino);
  if (found == locks_.end()) return std::nullopt;
  for (const ForeignLock& lock : found->second) {
    for (const LockRange& held : lock.ranges) {
      const bool apart = held.end < range.start || range.end < held.start;
      const bool both_shared = held.mode == LockMode::kShared && range.mode == LockMode::kShared;
      if (!apart && !both_shared) return Conflict{lock, held};
    }
  }
  return std::nullopt;
}

void ForeignLocks::forget_client(const std::string& vnfs, LockProtocol protocol,
                                 const std::string& client) {
  for (auto it = locks_.begin(); it != locks_.end();) {
    std::erase_if(it->second, [&](const ForeignLock& lock) {
      return lock.vnfs == vnfs && lock.owner.protocol == protocol && lock.owner.client == client;
    });
    it = it->second.empty() ? locks_.erase(it) : std::next(it);
  }
}

}  // namespace symnas::fs
