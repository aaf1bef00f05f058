#include "vnfsd/daemon/upkeep/compaction.h"

#include <algorithm>

namespace symnas::vnfsd::daemon {

std::optional<Revision> Compaction::tick(std::int64_t now_ms, Revision current) {
  if (seen_.empty() || seen_.back().second < current) seen_.emplace_back(now_ms, current);
  Revision discard(current.value() - keep_revisions_);
  while (!seen_.empty() && now_ms - seen_.front().first >= keep_ms_) {
    discard = std::max(discard, seen_.front().second);
    seen_.pop_front();
  }
  if (discard <= discarded_) return std::nullopt;
  discarded_ = discard;
  return discard;
}

}  // namespace symnas::vnfsd::daemon
