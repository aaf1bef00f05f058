// The disk with which all runs of a program begin (made before the first fork), and the sizes of
// volumes on it.
#pragma once

#include <cstdint>
#include <memory>

#include "tests/support/sim_volume.h"

namespace symnas::sim {

inline constexpr std::uint64_t kSmallVolume = 6 << 20;
inline constexpr std::uint64_t kVolume = 24 << 20;
inline constexpr std::uint64_t kLargeVolume = 72 << 20;
const std::shared_ptr<test::SimDisk>& prepared_disk();

}  // namespace symnas::sim
