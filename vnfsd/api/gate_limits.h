// Bounds of the API over the network, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::api {

// Of a request over the network or from symnas-apid: a token, and what a browser sends.
inline constexpr std::size_t kHeaderBytesMax = 16 << 10;
// What a client may still send when it has been answered, and for how long nothing may come of it.
inline constexpr std::size_t kLingerBytesMax = 256 << 10;
inline constexpr int kLingerMs = 200;
// Answers that symnas-apid hands on: 10,000 locks are 5 MB.
inline constexpr std::size_t kReplyBytesMax = std::size_t{64} << 20;
// Administrators over the network at once; they do not take root's threads.
inline constexpr std::size_t kGateThreads = 8;
inline constexpr std::size_t kGateWaitingMax = 64;
// How long `symnas` waits to be connected with a head, and symnas-apid and `symnas` for an answer:
// a check of a filesystem reads all of its records.
inline constexpr int kConnectTimeoutS = 10;
inline constexpr int kAnswerTimeoutS = 3'700;
// Of those threads, for streams; and how often a stream's credential is looked up.
inline constexpr std::size_t kFollowersMax = 4;
inline constexpr std::int64_t kGateLookMs = 500;
// A stream says at least every 15 s that it lives.
inline constexpr int kFollowSilenceS = 45;
// Keys (addresses, credentials) whose rate is remembered: 200 bytes each.
inline constexpr std::size_t kRateKeysMax = 4096;

}  // namespace symnas::vnfsd::api
