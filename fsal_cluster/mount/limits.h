// Bounds of a mount's background work, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::fs {

// Access times (access_times.h) are recorded so often: the bound of how late others see them.
inline constexpr std::int64_t kAccessRoundMs = 10'000;
// An access time is replaced when it is older: relatime's day.
inline constexpr std::int64_t kAccessTimeAgeNs = std::int64_t{24} * 3600 * 1'000'000'000;
// Files that wait for that, some 80 bytes each; those beyond are not noted in this round.
inline constexpr std::size_t kAccessesNotedMax = 65'536;
// A scan of millions of files costs etcd so many inodes a round, in transactions of so many: a
// conflict of one leaves out the others.
inline constexpr std::size_t kAccessesPerRound = 4'096;
inline constexpr std::size_t kAccessesPerTransaction = 16;

}  // namespace symnas::fs
