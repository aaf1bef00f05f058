// Bounds of the API, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::vnfsd::api {

inline constexpr std::size_t kRequestBytesMax = 1 << 20;
// Of a body; the deepest one has 3. Nested without end, a MiB of brackets becomes 70 MiB of values.
inline constexpr int kBodyDepthMax = 16;
inline constexpr int kApiThreads = 4;  // administrators at once

// Readers of the event stream, each on a thread beside those: a console per head and a few people.
inline constexpr int kStreamsMax = 8;
// How late an event may come; each look reads all events of the cluster.
inline constexpr std::int64_t kStreamLookMs = 500;
// A reader that hears nothing for a few of these asks again; a gone one is noticed by them.
inline constexpr std::int64_t kStreamHeartbeatMs = 5'000;
// After this a reader counts the stream as ended: three heartbeats.
inline constexpr int kStreamSilenceS = 15;
// A line of it that is longer comes from no vnfsd: an event has a few hundred bytes.
inline constexpr std::size_t kStreamLineBytesMax = 1 << 16;
// How soon a stream ends with vnfsd.
inline constexpr std::int64_t kStreamStepMs = 100;

inline constexpr std::int64_t kDrainLookMs = 500;
// How long a job follows a drain. What cannot go anywhere stays for ever.
inline constexpr std::int64_t kDrainFollowedS = 3'600;

// Locks that are listed: some MiB. A database has hundreds.
inline constexpr std::size_t kLocksListed = 10'000;

// With fewer files nothing can be said about the cost of a file: etcd's own pages weigh more.
inline constexpr std::uint64_t kObjectsToJudgeBy = 1000;
// What a small file costs etcd then: about 5 M files in 8 GiB (docs/design.md 7).
inline constexpr std::uint64_t kUsualFileBytes = 1'700;

// From so many cached inodes on, an instance's growth since its start says how much memory an inode
// costs.
inline constexpr std::uint64_t kInodesForACost = 10'000;

}  // namespace symnas::vnfsd::api
