#include "fsal_cluster/state/nlm_lives.h"

#include <algorithm>

#include "fsal_cluster/state/lock_table.h"

namespace symnas::fs {

void NlmLives::note(const std::string& address, std::int32_t state, std::int64_t now_ns,
                    std::int64_t serving_since_ns) {
  if (state == 0 || is_over(address, state, now_ns, serving_since_ns)) return;
  known_[address] = {state, now_ns};
  if (known_.size() <= kLivesRemembered) return;
  known_.erase(std::min_element(known_.begin(), known_.end(), [](const auto& a, const auto& b) {
    return a.second.since_ns < b.second.since_ns;
  }));
}

bool NlmLives::is_over(const std::string& address, std::int32_t state, std::int64_t begun_ns,
                       std::int64_t serving_since_ns) const {
  const auto known = known_.find(address);
  if (known == known_.end() || !is_former_life(state, known->second.state)) return false;
  return begun_ns - std::max(known->second.since_ns, serving_since_ns) < kLifeRememberedNs;
}

void NlmLives::end(const std::string& address) {
  const auto found = under_way_.find(address);
  if (--found->second == 0) under_way_.erase(found);
}

}  // namespace symnas::fs
