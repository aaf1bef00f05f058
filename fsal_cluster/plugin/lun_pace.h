// LunPace: tells whether most of the latest requests to the LUNs took long. It counts votes and no
// mean: when a thread lost its processor for some milliseconds, that counts once. Thread-safe,
// lock-free.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "fsal_cluster/plugin/limits.h"

namespace symnas::plugin {

class LunPace {
 public:
  void note(std::int64_t took_ns) {
    const int votes = votes_.load(std::memory_order_relaxed);
    votes_.store(std::clamp(votes + (took_ns > kWorthAnotherWorkerNs ? 1 : -1), -kVotes, kVotes),
                 std::memory_order_relaxed);
  }
  bool is_slow() const { return votes_.load(std::memory_order_relaxed) > 0; }

 private:
  static constexpr int kVotes = 32;
  std::atomic<int> votes_{-kVotes};
};

}  // namespace symnas::plugin
