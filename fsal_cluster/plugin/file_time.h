// Times as ganesha has them and as we keep them: nanoseconds since 1970 in 64 bits (1677 to 2262).
// Pure functions.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>

#include "fsal_cluster/types/types.h"

namespace symnas::plugin {

inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// nullopt: not a time (nanoseconds out of range), or one that symnas cannot store. A client may
// send any 64-bit seconds (RFC 8881 3.3.1).
inline std::optional<std::int64_t> to_ns(const timespec& ts) {
  if (ts.tv_nsec < 0 || ts.tv_nsec >= kNsPerSecond) return std::nullopt;
  std::int64_t ns = 0;
  if (__builtin_mul_overflow(std::int64_t{ts.tv_sec}, kNsPerSecond, &ns)) return std::nullopt;
  if (__builtin_add_overflow(ns, std::int64_t{ts.tv_nsec}, &ns)) return std::nullopt;
  if (ns == fs::kServerTime) return std::nullopt;
  return ns;
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
