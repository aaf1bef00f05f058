// Bounds of what vnfsd.toml may say, each with its reason.
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

}  // namespace symnas::vnfsd
