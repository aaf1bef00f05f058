// Bounds of what vnfsd.toml may say, each with its reason, and the ports that it does not say.
#pragma once

#include <cstdint>

namespace symnas::vnfsd {

// etcd's quota: below, history of some seconds fills it; above, no member starts in bearable time.
inline constexpr std::int64_t kQuotaBytesMin = std::int64_t{16} << 20;
inline constexpr std::int64_t kQuotaBytesMax = std::int64_t{64} << 30;

// How long a head must have served before VNFSs go back to it by themselves: a head that crashes
// once a minute costs its VNFSs nothing.
inline constexpr std::int64_t kSettleS = 60;
inline constexpr std::int64_t kSettleSMax = 86'400;

// Of every head.
inline constexpr std::uint16_t kEtcdClientPort = 2379;
inline constexpr std::uint16_t kEtcdPeerPort = 2380;
inline constexpr std::uint16_t kProbePort = 20'491;  // UDP, from the range that nobody registers

}  // namespace symnas::vnfsd
