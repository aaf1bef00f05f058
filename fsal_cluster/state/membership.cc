#include "fsal_cluster/state/membership.h"

#include <chrono>
#include <functional>
#include <thread>

namespace symnas::fs {
namespace {
// How often turn_shared() looks whether the last sole stay has ended: a joining mount waits for it.
constexpr std::chrono::milliseconds kDrainPoll{1};
}  // namespace

Membership::Stay Membership::enter() {
  if (mode_.load(std::memory_order_acquire) == Mode::kShared) return Stay(nullptr);
  static thread_local const std::size_t mine =
      std::hash<std::thread::id>{}(std::this_thread::get_id()) % kShards;
  std::atomic<std::int64_t>& count = shards_[mine].sole_stays;
  // Counts first and looks at the mode then; turn_shared() sets the mode first and counts then. So
  // one of the two sees the other.
  count.fetch_add(1, std::memory_order_seq_cst);
  if (mode_.load(std::memory_order_seq_cst) == Mode::kSole) return Stay(&count);
  count.fetch_sub(1, std::memory_order_release);
  return Stay(nullptr);
}

void Membership::turn_shared() {
  settled_.store(false, std::memory_order_seq_cst);
  mode_.store(Mode::kShared, std::memory_order_seq_cst);
  for (const Shard& shard : shards_) {
    while (shard.sole_stays.load(std::memory_order_seq_cst) > 0)
      std::this_thread::sleep_for(kDrainPoll);
  }
  settled_.store(true, std::memory_order_release);
}

}  // namespace symnas::fs
