#include "fsal_cluster/state/nlm_lives.h"

#include <algorithm>

#include "fsal_cluster/state/lock_table.h"

namespace symnas::fs {

void NlmLives::note(const std::string& address, std::int32_t state, std::int64_t now_ns) {
  if (state == 0 || is_over(address, state, now_ns)) return;
  known_[address] = {state, now_ns};
  if (known_.size() <= kLivesRemembered) return;
  known_.erase(std::min_element(known_.begin(), known_.end(), [](const auto& a, const auto& b) {
    return a.second.since_ns < b.second.since_ns;
  }));
}

bool NlmLives::is_over(const std::string& address, std::int32_t state,
                       std::int64_t begun_ns) const {
  const auto known = known_.find(address);
  return known != known_.end() && begun_ns - known->second.since_ns < kLifeRememberedNs &&
         is_former_life(state, known->second.state);
}

void NlmLives::end(const std::string& address) {
  const auto found = under_way_.find(address);
  if (--found->second == 0) under_way_.erase(found);
}

}  // namespace symnas::fs
