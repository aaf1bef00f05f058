// Bounds of looking at things for the page of metrics, each with its reason.
#pragma once

#include <array>
#include <cstdint>

namespace symnas::vnfsd::daemon {

inline constexpr std::int64_t kPageMs = 2'000;  // far below the 15 s of a usual scrape interval
inline constexpr std::int64_t kEtcdCanaryMs = 2'000;
inline constexpr std::int64_t kEtcdCanaryDeadlineMs = 2'000;  // as a gate closes after 8 s
inline constexpr std::int64_t kInstanceReadMs = 5'000;
inline constexpr std::int64_t kCertificateReadMs = 60'000;  // they are replaced once in months

// Reads of etcd are counted by these, in seconds: from a quiet cluster to a change of its leader.
inline constexpr std::array<double, 9> kEtcdReadBoundsS = {0.001, 0.0025, 0.005, 0.01, 0.025,
                                                           0.1,   0.5,    1,     2};

}  // namespace symnas::vnfsd::daemon
