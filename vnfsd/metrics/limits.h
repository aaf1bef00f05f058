// Bounds of metrics over the network, each with its reason.
#pragma once

#include <cstdint>

namespace symnas::vnfsd::metrics {

inline constexpr int kServerThreads = 8;  // two Prometheus servers, and people
// Of the server: connections that wait beyond these are accepted when others end.
inline constexpr std::uint64_t kServerFilesMax = 64;
inline constexpr int kRequestTimeoutS = 2;  // a client that sends nothing for so long is dropped
inline constexpr int kAnswerTimeoutS = 5;   // a client that takes nothing for so long

// symnas-metrics is started again after its end: at once costs a processor if it cannot work.
inline constexpr std::int64_t kAgainMs = 1'000;
inline constexpr std::int64_t kAgainMsMax = 30'000;
inline constexpr std::int64_t kEndMs = 2'000;  // after that it is killed

}  // namespace symnas::vnfsd::metrics
