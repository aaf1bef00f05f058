// Times as ganesha has them and as we keep them: nanoseconds since 1970 in 64 bits (1677 to 2262).
// Pure functions.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>

#include "fsal_cluster/types/types.h"

namespace symnas::plugin {

inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// The first and the last whole second that symnas stores: 1677-09-21 and 2262-04-11.
inline constexpr std::int64_t kFirstSecond = INT64_MIN / kNsPerSecond;
inline constexpr std::int64_t kLastSecond = INT64_MAX / kNsPerSecond - 1;
static_assert(kFirstSecond * kNsPerSecond > fs::kServerTime);

// A client may send any 64-bit seconds (RFC 8881 3.3.1). A time that symnas cannot store becomes
// the nearest one that it can, as Linux' own filesystems have it. nullopt: not a time (nanoseconds
// out of range).
inline std::optional<std::int64_t> to_ns(const timespec& ts) {
  if (ts.tv_nsec < 0 || ts.tv_nsec >= kNsPerSecond) return std::nullopt;
  const std::int64_t seconds = ts.tv_sec;
  if (seconds < kFirstSecond) return kFirstSecond * kNsPerSecond;
  if (seconds > kLastSecond) return kLastSecond * kNsPerSecond;
  return seconds * kNsPerSecond + ts.tv_nsec;
}

inline timespec to_timespec(std::int64_t ns) {
  timespec ts{};
  ts.tv_sec = ns / kNsPerSecond;
  ts.tv_nsec = ns % kNsPerSecond;
  if (ts.tv_nsec < 0) {
    ts.tv_nsec += kNsPerSecond;
    --ts.tv_sec;
  }
  return ts;
}

}  // namespace symnas::plugin
