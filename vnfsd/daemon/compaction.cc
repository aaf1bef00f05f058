#include "vnfsd/daemon/compaction.h"

namespace symnas::vnfsd::daemon {

std::optional<Revision> Compaction::tick(std::int64_t now_ms, Revision current) {
  if (seen_.empty() || seen_.back().second < current) seen_.emplace_back(now_ms, current);
  std::optional<Revision> discard;
  while (!seen_.empty() && now_ms - seen_.front().first >= keep_ms_) {
    discard = seen_.front().second;
    seen_.pop_front();
  }
  return discard;
}

}  // namespace symnas::vnfsd::daemon
