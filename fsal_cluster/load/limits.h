// Bounds of counting load, each with its reason.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace symnas::fs {

// Pairs of a client and an export that are told apart: more than a person reads, and 1 MiB.
inline constexpr std::size_t kLoadPairsMax = 1024;
// Of these, so many give way at once when another comes: what makes room is paid by many newcomers.
inline constexpr std::size_t kLoadPairsMakeWay = kLoadPairsMax / 4;
// What a transferred byte is worth beside an operation, when it is decided who gives way.
inline constexpr std::uint64_t kLoadBytesPerOperation = 16 << 10;

// Threads that count without waiting for one another. It is as many as work at once on most heads
// (kBusyWorkersMin); further ones share.
inline constexpr std::size_t kLoadShards = 16;
// Combinations of client, export and operation that a shard gathers before it hands them on: 32 KiB
// of memory, which a processor keeps close.
inline constexpr std::size_t kLoadShardCells = 256;
// A key is looked for in so many cells; with most of them in use the shard hands on what it has.
inline constexpr std::size_t kLoadProbesMax = 8;

// Upper bounds of the times that are told apart, in microseconds; the last class has no bound. From
// what memory takes to what a client calls "not responding".
inline constexpr std::array<std::uint32_t, 10> kLoadTimesUs = {
    100, 300, 1'000, 3'000, 10'000, 30'000, 100'000, 300'000, 1'000'000, 3'000'000};
inline constexpr std::size_t kLoadTimeClasses = kLoadTimesUs.size() + 1;

static_assert(kLoadPairsMakeWay > 0 && kLoadPairsMakeWay < kLoadPairsMax);
static_assert(kLoadProbesMax < kLoadShardCells);

}  // namespace symnas::fs
