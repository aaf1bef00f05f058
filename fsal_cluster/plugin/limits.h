// Bounds of the plugin, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::plugin {

// Largest READ and WRITE: what every client supports and one stripe row of a usual volume carries.
inline constexpr std::uint64_t kIoBytesMax = 1 << 20;
// Entries fetched from the core at a time while ganesha fills a READDIR reply (a 64 KiB reply holds
// some 300 of them).
inline constexpr std::size_t kReaddirPageEntries = 128;
// Share of the RPC workers that may wait in kv at once; the rest keeps READ and WRITE going while
// etcd is away (DESIGN 5.5).
inline constexpr std::uint32_t kBlockedWorkersNumerator = 3;
inline constexpr std::uint32_t kBlockedWorkersDenominator = 4;

// One in so many RPC workers may wait for a LUN at once: on any machine more than a disk's queue is
// worth, and a LUN that hangs leaves the other workers alone.
inline constexpr std::uint32_t kIoWaitsShare = 8;

// Busy RPC workers beyond which a request waits for one that is done instead of waking another:
// this many, or so many per processor. On two processors 16 were as fast as 8 and 32.
inline constexpr unsigned kBusyWorkersMin = 16;
inline constexpr unsigned kBusyWorkersPerCpu = 4;

// A LUN whose requests mostly take longer than this is worth another worker meanwhile: more than a
// change of threads costs.
inline constexpr std::int64_t kWorthAnotherWorkerNs = 200'000;

// How often vnfsd is told of a changed number of cached inodes.
inline constexpr std::int64_t kMemoryReportMs = 1000;

// How often vnfsd is shown that the instance runs: far below what it waits for, nothing beside what
// else is done in that time.
inline constexpr std::int64_t kBeatMs = 100;
// The same while a gate is shut: clients wait for its VIPs from the proof on.
inline constexpr std::int64_t kShutBeatMs = 10;

// How often the end of what was begun is looked for while the door is shut: part of every move.
inline constexpr std::int64_t kDrainPollUs = 500;
// While replies wait for acknowledgements and none came for this long, nobody listens: several
// retransmissions of TCP (200 ms at first, RFC 6298 and Linux's minimum).
inline constexpr std::int64_t kRepliesMs = 1'000;
// A client to which TCP had sent something again so often when the door was shut has been silent
// for at least 12.6 s (200 ms, doubled each time) and is gone. One that a short break of its path
// made silent comes back within that: its reply is worth the second, as no record answers it in
// NFSv4.1.
inline constexpr std::uint8_t kSilentAfterRetransmits = 6;
// A move's record is one transaction, and clients may be thousands.
inline constexpr std::size_t kOutstandingNamed = 8;
// With empty sockets a reply that is still in a queue is about to be written, or its transport
// died.
inline constexpr std::int64_t kLostRepliesMs = 50;
inline constexpr std::uint16_t kNfsPort = 2049;

// Addresses that are remembered of each export, for who wants to know whom its removal concerns.
inline constexpr std::size_t kExportClientsMax = 4096;

// Pause before a volume that could not adopt its new record, or a watch that broke, is tried again.
inline constexpr std::int64_t kGrowthRetryMs = 500;

}  // namespace symnas::plugin
