// Compaction: which history of etcd may go. Pure; the caller brings time and revisions.
// Thread-compatible. Invariant: of what is younger than keep_ms, the newest keep_revisions
// revisions are never discarded.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "common/base/ids.h"

namespace symnas::vnfsd::daemon {

class Compaction {
 public:
  Compaction(std::int64_t keep_ms, std::int64_t keep_revisions)
      : keep_ms_(keep_ms), keep_revisions_(keep_revisions) {}

  // etcd was at `current` now. Answers the newest revision that may go and has not been answered
  // before: one that was current at least keep_ms ago, or lies keep_revisions behind.
  std::optional<Revision> tick(std::int64_t now_ms, Revision current);

 private:
  const std::int64_t keep_ms_;
  const std::int64_t keep_revisions_;
  Revision discarded_;
  std::deque<std::pair<std::int64_t, Revision>> seen_;  // ascending; at most keep_ms / interval + 1
};

}  // namespace symnas::vnfsd::daemon
