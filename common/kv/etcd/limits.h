// Bounds of common/kv/etcd, each with its reason.
#pragma once

#include <cstdint>

#include "common/kv/limits.h"

namespace symnas::kv {

// A dead member must be noticed before T_gate (8 s) is spent, and a second reconnect must fit as
// well. etcd's own lower limit must allow it: --grpc-keepalive-min-time 1s (its default of 5s hangs
// up on more frequent pings).
inline constexpr int kKeepaliveTimeMs = 2000;
inline constexpr int kKeepaliveTimeoutMs = 1000;

// A restarted member is used again within half a second; a dead one costs two connects per second.
inline constexpr int kReconnectFirstMs = 50;
inline constexpr int kReconnectMaxMs = 500;
// One connect with its TLS handshake on a busy machine; a host that is gone does not answer at all.
inline constexpr int kConnectTimeoutMs = 1000;

// A try with less time left is not started: a call whose deadline passes before its headers are
// sent resets a stream that the server has never heard of (gRPC 1.51), which costs the connection
// and every other call on it.
inline constexpr std::int64_t kSendRoomMs = 10;

// After another endpoint has connected, a new store waits this long for its first endpoint, unless
// the first refuses: the spread of connects with TLS handshakes that began at the same time on a
// busy machine. A store that chose another head's member would stall whenever that head stalls.
// When the first endpoint is at a head that is off, this delays a failover.
inline constexpr std::int64_t kFirstChoiceMs = 50;

// How soon a waiting try notices that a member has become reachable.
inline constexpr std::int64_t kWaitingTickMs = 5;
// How soon a lost idle connection is opened again.
inline constexpr std::int64_t kIdleTickMs = 250;
// A watch that finds no connected member in this time gives up, and its owner decides what to do.
inline constexpr std::int64_t kWatchOpenTimeoutMs = 1000;

// Listing the members: time for a first connection and a try at a second member. The end of vnfsd
// waits for it.
inline constexpr int kMembersReadMs = 1500;

// 7 members are etcd's recommended maximum.
inline constexpr int kEndpointsMax = 16;

static_assert(kWaitingTickMs * 10 < kTryTimeoutMs, "a try sees a recovered member in time");
static_assert(kSendRoomMs * 10 < kTryTimeoutMs, "a try has time to wait for a member");
static_assert(kReconnectFirstMs < kTryTimeoutMs, "one try bridges the restart of a member");

}  // namespace symnas::kv
