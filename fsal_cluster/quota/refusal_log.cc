#include "fsal_cluster/quota/refusal_log.h"

#include "fsal_cluster/quota/limits.h"

namespace symnas::fs {

bool RefusalLog::is_due(const Subject& subject, std::int64_t now_ns) {
  std::erase_if(told_ns_,
                [now_ns](const auto& told) { return now_ns - told.second >= kRefusalPauseNs; });
  if (told_ns_.size() >= kRefusalsKnownMax) return false;
  return told_ns_.try_emplace(subject, now_ns).second;
}

}  // namespace symnas::fs
