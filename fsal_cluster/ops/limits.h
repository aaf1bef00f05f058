// Bounds of what FSSTAT says, each with its reason. Those of the operations: types/limits.h.
#pragma once

#include <cstdint>

namespace symnas::fs {

// What a small file costs etcd: about 5 M files in 8 GiB (docs/design.md 7).
inline constexpr std::uint64_t kFileBytesInStore = 1'700;
// Inodes are counted for `df -i` at most so often that it takes a hundredth of the time; but a
// count is never older than a minute. Whoever asks waits so long for a new one if there is an old
// one: etcd may be away.
inline constexpr std::int64_t kFileCountShare = 100;
inline constexpr std::int64_t kFileCountGoodNsMax = 60'000'000'000;
inline constexpr std::int64_t kFileCountWaitMs = 100;

}  // namespace symnas::fs
