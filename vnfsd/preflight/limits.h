// Bounds of what a machine is judged by, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::preflight {

// The kernel counts its error up by 0.5 ms a second without synchronisation (adjtimex(2)); times of
// files go by other heads' clocks from half a second on.
inline constexpr std::int64_t kClockErrorMaxNs = 500'000'000;

// etcd's own bounds of a healthy disk: 99 of 100 writes of the WAL take less than 10 ms
// (etcd.io, FAQ, "slow disk"); from 100 ms on members miss heartbeats.
inline constexpr std::int64_t kSyncGoodUs = 10'000;
inline constexpr std::int64_t kSyncBadUs = 100'000;
inline constexpr int kSyncs = 200;
inline constexpr std::size_t kSyncBytes = 2'300;  // of a WAL entry, as in etcd's FAQ on fio
inline constexpr std::int64_t kSyncsAtMostMs = 10'000;

// An answer over a LAN takes less than a millisecond; a busy machine is given a thousand.
inline constexpr std::int64_t kAnswerMs = 1'000;

// One device gets this long to be looked at.
inline constexpr std::int64_t kDeviceMs = 10'000;

// io_uring's features that are used (docs/operations/sizes.md), and macvlan with O_DIRECT on loop.
inline constexpr int kKernelMajor = 5;
inline constexpr int kKernelMinor = 15;

// 16 VNFSs, each a namespace that knows 256 clients and heads.
inline constexpr std::int64_t kNeighboursMin = 4096;

}  // namespace symnas::vnfsd::preflight
