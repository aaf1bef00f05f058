#include "fsal_cluster/state/held_locks.h"

#include <algorithm>
#include <utility>

#include "common/base/instance_counters.h"
#include "fsal_cluster/state/nlm_lives.h"

namespace symnas::fs {

void HeldLocks::load(const Key& key, RecordedLock lock) {
  if (key.second.protocol == LockProtocol::kNfs4)
    unclaimed_.set(key.first, key.second, lock.ranges);
  hold(key, std::move(lock.ranges));
  kept_[key] = {std::move(lock.life), lock.since_ns, lock.guessed};
}

void HeldLocks::hold(const Key& key, std::vector<LockRange> ranges) {
  const bool held_some = !held(key).empty();
  const bool holds = !ranges.empty();
  if (!holds) kept_.erase(key);
  unclaimed_.set(key.first, key.second, within(unclaimed_.held(key.first, key.second), ranges));
  instance_counters().lock_ranges +=
      static_cast<std::int64_t>(ranges.size()) - static_cast<std::int64_t>(held(key).size());
  table_.set(key.first, key.second, std::move(ranges));
  if (held_some == holds || key.second.protocol != LockProtocol::kNlm) return;
  const auto client = parse_nlm_client(key.second.client);
  if (!client) return;
  if (holds) {
    ++nlm_clients_[*client];
  } else if (--nlm_clients_[*client] == 0) {
    nlm_clients_.erase(*client);
  }
}

void HeldLocks::grant(const Key& key, const LockRange& range, const ClientLife& life, Kept after) {
  hold(key, with_range(held_in(key, life), range));
  claim(key, range);
  kept_[key] = std::move(after);
}

const std::vector<LockRange>& HeldLocks::held(const Key& key) const {
  return table_.held(key.first, key.second);
}

std::vector<LockRange> HeldLocks::held_in(const Key& key, const ClientLife& life) const {
  if (is_another_life(kept(key).life, life)) return {};
  return held(key);
}

HeldLocks::Kept HeldLocks::kept(const Key& key) const {
  const auto found = kept_.find(key);
  return found == kept_.end() ? Kept{} : found->second;
}

HeldLocks::Kept HeldLocks::kept_after(const Key& key, const ClientLife& life,
                                      std::int64_t wall_ns) const {
  Kept out = kept(key);
  if (is_another_life(out.life, life) || out.since_ns == 0) out.since_ns = wall_ns;
  if (life.nsm_state != 0) out.life.nsm_state = life.nsm_state;
  if (!life.verifier.empty()) out.life.verifier = life.verifier;
  return out;
}

std::optional<LockConflict> HeldLocks::conflict(Ino ino, const LockOwner& owner,
                                                const LockRange& range) const {
  return table_.conflict(ino, owner, range);
}

std::vector<HeldLocks::Key> HeldLocks::of_nfs4_client(const std::string& client) const {
  return table_.of_client(LockProtocol::kNfs4, client);
}

std::vector<HeldLocks::Key> HeldLocks::of_nlm() const {
  return table_.of_protocol(LockProtocol::kNlm);
}

// An owner that claims one recorded range in more parts than it may hold keeps all of it.
void HeldLocks::claim(const Key& key, const LockRange& range) {
  const std::vector<LockRange>& before = unclaimed_.held(key.first, key.second);
  std::vector<LockRange> left = without_range(before, range.start, range.end);
  if (left.size() > std::max(before.size(), kLockRangesMax)) left.clear();
  unclaimed_.set(key.first, key.second, std::move(left));
}

bool HeldLocks::is_unclaimed(const Key& key, const LockRange& range) const {
  return overlaps(unclaimed_.held(key.first, key.second), range);
}

std::vector<HeldLocks::Key> HeldLocks::unclaimed_of(const std::string& client) const {
  return unclaimed_.of_client(LockProtocol::kNfs4, client);
}

std::vector<LockRange> HeldLocks::claimed(const Key& key) const {
  return outside(held(key), unclaimed_.held(key.first, key.second));
}

std::set<NlmClient> HeldLocks::nlm_clients() const {
  std::set<NlmClient> clients;
  for (const auto& [client, keys] : nlm_clients_) clients.insert(client);
  return clients;
}

bool HeldLocks::has_nlm_client(const std::string& address) const {
  const auto first = nlm_clients_.lower_bound({address, "", ""});
  return first != nlm_clients_.end() && first->first.address == address;
}

bool HeldLocks::has_former(const NlmClient& client, std::int32_t state) {
  const std::pair who(client.address, client.name);
  const auto known = without_former_.find(who);
  if (known != without_former_.end() && known->second == state) return false;
  for (const Key& key : of_nlm()) {
    const auto holder = parse_nlm_client(key.second.client);
    if (holder && std::pair(holder->address, holder->name) == who &&
        is_former_life(kept(key).life.nsm_state, state))
      return true;
  }
  if (without_former_.size() >= kLivesRemembered) without_former_.clear();
  without_former_[who] = state;
  return false;
}

}  // namespace symnas::fs
