// Bounds of the API over the network, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::api {

// Answers that symnas-apid hands on: 10,000 locks are 5 MB.
inline constexpr std::size_t kReplyBytesMax = std::size_t{64} << 20;
// Requests over the network at once, streams included; they do not take root's threads.
inline constexpr std::size_t kGateThreads = 16;
inline constexpr std::size_t kGateWaitingMax = 64;
// How long `symnas` waits to be connected with a head, and symnas-apid and `symnas` for an answer:
// a check of a filesystem reads all of its records.
inline constexpr int kConnectTimeoutS = 10;
inline constexpr int kAnswerTimeoutS = 3'700;
// Of those threads, for streams; and how often the credential of a stream or a job is looked up.
inline constexpr std::size_t kFollowersMax = 8;
inline constexpr std::int64_t kGateLookMs = 500;
// One token has a quarter of each at most: the others are for the rest.
inline constexpr std::size_t kTokenRequestsMax = kGateThreads / 4;
inline constexpr std::size_t kTokenFollowersMax = kFollowersMax / 4;
static_assert(kTokenFollowersMax < kTokenRequestsMax, "who follows events can still ask");
static_assert(kFollowersMax < kGateThreads, "streams leave threads for requests");
// A stream says at least every 15 s that it lives.
inline constexpr int kFollowSilenceS = 45;
// Keys (addresses, credentials) whose rate is remembered: 200 bytes each.
inline constexpr std::size_t kRateKeysMax = 4096;

}  // namespace symnas::vnfsd::api
