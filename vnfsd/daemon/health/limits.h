// Bounds of judging LUNs and networks, each with its reason.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::daemon {

// LUNs and networks (health.h) are tried so often.
inline constexpr std::int64_t kTryMs = 1'000;
inline constexpr std::int64_t kLunLookMs = 500;
inline constexpr std::size_t kLunReadBytes = 4096;
// Reads are counted by these, in seconds: from flash to a disk that tries again and again.
inline constexpr std::array<double, 9> kLunReadBoundsS = {0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                          0.05,   0.25,  1,      5};
// Multipath answers errors only when its last path has gone; one retry of an array passes.
inline constexpr int kFailuresMin = 3;
inline constexpr std::int64_t kFailsMs = 2'000;
// Far above what a busy array or a change of paths takes.
inline constexpr std::int64_t kHangsMs = 15'000;
// From when the first head knows of a fault that all heads have until the last one knows of it and
// has recorded it.
inline constexpr std::int64_t kWorseMs = 4'000;
static_assert(kWorseMs > 2 * (kTryMs + kLunLookMs));
// What it takes to register on all LUNs, on a busy head.
inline constexpr std::int64_t kRegistersMs = 10'000;
// A fault that comes and goes moves a VNFS at most once in this time.
inline constexpr std::int64_t kWellMs = 60'000;

}  // namespace symnas::vnfsd::daemon
