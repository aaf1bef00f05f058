// Bounds of the API, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::api {

inline constexpr std::size_t kRequestBytesMax = 1 << 20;
inline constexpr int kApiThreads = 4;  // administrators at once

// With fewer files nothing can be said about the cost of a file: etcd's own pages weigh more.
inline constexpr std::uint64_t kObjectsToJudgeBy = 1000;
// What a small file costs etcd then: about 5 M files in 8 GiB (docs/design.md 7).
inline constexpr std::uint64_t kUsualFileBytes = 1'700;

// From so many cached inodes on, an instance's growth since its start says how much memory an inode
// costs.
inline constexpr std::uint64_t kInodesForACost = 10'000;

}  // namespace symnas::vnfsd::api
