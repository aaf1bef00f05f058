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

// A try with less time left is not begun any more: a call whose deadline passes before its headers
// are out resets a stream the server has never heard of (gRPC 1.51), which costs the connection and
// every other call on it.
inline constexpr std::int64_t kSendRoomMs = 10;

// A new store waits so long for its first endpoint after another one has connected, unless the
// first refuses: the spread of connects with TLS handshakes that began at the same time on a busy
// machine. Whoever settled at another head's member would stall with it; where the first is that of
// a head that is off, a failover waits.
inline constexpr std::int64_t kFirstChoiceMs = 50;

// How soon a waiting try notices that a member has become reachable.
inline constexpr std::int64_t kWaitingTickMs = 5;
// How soon a lost idle connection is opened again.
inline constexpr std::int64_t kIdleTickMs = 250;
// A watch that finds no member to open on gives up, so that its owner decides what to do.
inline constexpr std::int64_t kWatchOpenTimeoutMs = 1000;

// Listing the members: a first connection and a try at a second one; vnfsd's end waits for it.
inline constexpr int kMembersReadMs = 1500;

// 7 members are etcd's recommended maximum.
inline constexpr int kEndpointsMax = 16;

static_assert(kWaitingTickMs * 10 < kTryTimeoutMs, "a try sees a recovered member in time");
static_assert(kSendRoomMs * 10 < kTryTimeoutMs, "a try has time to wait for a member");
static_assert(kReconnectFirstMs < kTryTimeoutMs, "one try bridges the restart of a member");

}  // namespace symnas::kv
