// Compaction: decides which history of etcd may be discarded. Pure; the caller brings time and
// revisions. Thread-compatible. Invariant: of what is younger than keep_ms, the newest
// keep_revisions revisions are never discarded.
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

  // Takes etcd's current revision. Returns the newest revision that may be discarded and was not
  // returned before: one that was current at least keep_ms ago, or lies keep_revisions behind.
  std::optional<Revision> tick(std::int64_t now_ms, Revision current);

 private:
  const std::int64_t keep_ms_;
  const std::int64_t keep_revisions_;
  Revision discarded_;
  std::deque<std::pair<std::int64_t, Revision>> seen_;  // ascending; at most keep_ms / interval + 1
};

}  // namespace symnas::vnfsd::daemon
