#include "fsal_cluster/state/late_unlocks.h"

#include <algorithm>

#include "fsal_cluster/state/nlm_client.h"

namespace symnas::fs {

bool LateUnlocks::begin(const Key& key) {
  if (late_.erase(key) == 0) return false;
  writing_.insert(key);
  return true;
}

void LateUnlocks::end(std::span<const Key> keys, const Status& recorded) {
  for (const Key& key : keys)
    if (writing_.erase(key) > 0 && !recorded) late_.insert(key);
}

std::vector<LateUnlocks::Key> LateUnlocks::all() const {
  std::set<Key> keys = late_;
  keys.insert(writing_.begin(), writing_.end());
  return {keys.begin(), keys.end()};
}

std::optional<LateUnlocks::Key> LateUnlocks::one_on(Ino ino) const {
  const auto first = late_.lower_bound({ino, LockOwner{}});
  if (first == late_.end() || first->first != ino) return std::nullopt;
  return *first;
}

std::vector<LateUnlocks::Key> LateUnlocks::of_nlm_client(const std::string& address) const {
  std::vector<Key> found;
  for (const Key& key : late_)
    if (is_of_nlm_client(key.second, address)) found.push_back(key);
  return found;
}

bool LateUnlocks::owes_of(const std::string& address) const {
  const auto its = [&](const Key& key) { return is_of_nlm_client(key.second, address); };
  return std::any_of(late_.begin(), late_.end(), its) ||
         std::any_of(writing_.begin(), writing_.end(), its);
}

}  // namespace symnas::fs
