#include "fsal_cluster/state/membership.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "fsal_cluster/types/limits.h"

namespace symnas::fs {

Membership::Stay Membership::enter() {
  if (mode_.load(std::memory_order_acquire) == Mode::kShared) return Stay(nullptr);
  static thread_local const std::size_t mine =
      std::hash<std::thread::id>{}(std::this_thread::get_id()) % kShards;
  std::atomic<std::int64_t>& count = shards_[mine].sole_stays;
  // Counted before the mode is looked at again, as begin_shared() sets it before settle() counts:
  // one of the two sees the other.
  count.fetch_add(1, std::memory_order_seq_cst);
  if (mode_.load(std::memory_order_seq_cst) == Mode::kSole) return Stay(&count);
  count.fetch_sub(1, std::memory_order_release);
  return Stay(nullptr);
}

void Membership::begin_shared() {
  settled_.store(false, std::memory_order_seq_cst);
  mode_.store(Mode::kShared, std::memory_order_seq_cst);
}

bool Membership::settle() {
  const bool settled = is_settled();
  if (settled) settled_.store(true, std::memory_order_release);
  return settled;
}

bool Membership::is_drained() const {
  return std::ranges::all_of(shards_, [](const Shard& shard) {
    return shard.sole_stays.load(std::memory_order_seq_cst) == 0;
  });
}

void Membership::turn_shared() {
  begin_shared();
  while (!settle()) std::this_thread::sleep_for(std::chrono::nanoseconds(kDrainPollNs));
}

}  // namespace symnas::fs
