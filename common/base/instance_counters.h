// InstanceCounters: what an instance counts for its metrics (docs/formats/instance_control.md,
// command `metrics`). An instance is a process, so a process has one of them; mounts in one process
// are counted together. Thread-safe and wait-free.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace symnas {

// Upper bounds of the times that are told apart, in microseconds; the last class has no bound.
inline constexpr std::array<std::int64_t, 9> kEtcdTimesUs = {
    1'000, 2'500, 5'000, 10'000, 25'000, 100'000, 500'000, 1'000'000, 2'000'000};

struct InstanceCounters {
  std::atomic<std::uint64_t> gate_closings{0};  // that were followed by an opening
  std::atomic<std::int64_t> tokens_held{0};
  std::atomic<std::uint64_t> tokens_granted{0};
  std::atomic<std::uint64_t> token_waits{0};  // for another mount, before a grant
  std::atomic<std::uint64_t> tokens_given_back{0};
  std::atomic<std::uint64_t> quota_refusals{0};
  std::atomic<std::int64_t> lock_ranges{0};  // byte ranges that clients hold

  // Tries of transactions by EtcdStore.
  std::array<std::atomic<std::uint64_t>, kEtcdTimesUs.size() + 1> etcd_tries{};  // by their time
  std::atomic<std::uint64_t> etcd_sum_us{0};
  std::atomic<std::uint64_t> etcd_failures{0};  // of them: answered with an error, or not at all

  void etcd_answered(std::int64_t took_us) {
    std::size_t i = 0;
    while (i < kEtcdTimesUs.size() && took_us > kEtcdTimesUs[i]) ++i;
    ++etcd_tries[i];
    etcd_sum_us += static_cast<std::uint64_t>(took_us);
  }
};

inline InstanceCounters& instance_counters() {
  static InstanceCounters the_counters;
  return the_counters;
}

}  // namespace symnas
