#include "vnfsd/instance/restart_policy.h"

#include <algorithm>

#include "vnfsd/instance/limits.h"

namespace symnas::vnfsd::instance {

void RestartPolicy::served(std::int64_t now_ms) { serving_since_ms_ = now_ms; }

std::int64_t RestartPolicy::ended(std::int64_t now_ms) {
  if (serving_since_ms_ >= 0 && now_ms - serving_since_ms_ >= kHealthyServiceMs) failures_ = 0;
  serving_since_ms_ = -1;
  const int before = failures_++;
  if (before == 0) return 0;
  constexpr int kDoublingsMax = 16;  // beyond the bound long before
  return std::min(kRestartPauseMaxMs, kRestartPauseMinMs << std::min(before - 1, kDoublingsMax));
}

}  // namespace symnas::vnfsd::instance
