// Bounds of jobs, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd {

// Each has a thread; a head does one check and one fence at a time, the rest are drains.
inline constexpr std::size_t kJobsRunning = 4;
// That are remembered, the running ones included: a day's work of an administrator. A report of a
// check has 1000 findings at most, so that all of them together take some ten MiB.
inline constexpr std::size_t kJobsKept = 32;

// How often a job asks whether whoever began it may still have it: as streams of events do.
inline constexpr std::int64_t kLeaveLookNs = 500'000'000;

}  // namespace symnas::vnfsd
