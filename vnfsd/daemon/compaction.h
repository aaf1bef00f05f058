// Compaction: which history of etcd may go. Pure; the caller brings time and revisions.
// Thread-compatible. Invariant: nothing younger than keep_ms is ever discarded.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "common/base/ids.h"

namespace symnas::vnfsd::daemon {

class Compaction {
 public:
  explicit Compaction(std::int64_t keep_ms) : keep_ms_(keep_ms) {}

  // etcd was at `current` now. Answers the newest revision that was current at least keep_ms ago
  // and has not been answered before.
  std::optional<Revision> tick(std::int64_t now_ms, Revision current);

 private:
  const std::int64_t keep_ms_;
  std::deque<std::pair<std::int64_t, Revision>> seen_;  // ascending; at most keep_ms / interval + 1
};

}  // namespace symnas::vnfsd::daemon
