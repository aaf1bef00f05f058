// Bounds of the plugin, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::plugin {

// Largest READ and WRITE: what every client supports and one stripe row of a usual volume carries.
inline constexpr std::uint64_t kIoBytesMax = 1 << 20;
// Entries that are fetched from the core at a time while ganesha fills a READDIR reply (a 64 KiB
// reply holds some 300 of them).
inline constexpr std::size_t kReaddirPageEntries = 128;
// Share of the RPC workers that may wait in kv at once; the rest keep READ and WRITE going while
// etcd is away (docs/design.md 5.5).
inline constexpr std::uint32_t kBlockedWorkersNumerator = 3;
inline constexpr std::uint32_t kBlockedWorkersDenominator = 4;

// One in so many RPC workers may wait for a LUN at once. That is more than a disk's queue is worth
// on any machine, and a LUN that hangs leaves the other workers alone.
inline constexpr std::uint32_t kIoWaitsShare = 8;

// When this many RPC workers are busy, or so many per processor, a request waits for one of them
// instead of waking another. On two processors 16 were as fast as 8 and 32.
inline constexpr unsigned kBusyWorkersMin = 16;
inline constexpr unsigned kBusyWorkersPerCpu = 4;

// When most requests to a LUN take longer than this, another worker is woken meanwhile: it is
// longer than a change of threads.
inline constexpr std::int64_t kWorthAnotherWorkerNs = 200'000;

// Least time between two reports to vnfsd of a changed number of cached inodes.
inline constexpr std::int64_t kMemoryReportMs = 1000;

// How often the instance shows vnfsd that it runs: far below the time that vnfsd waits for it, and
// negligible work.
inline constexpr std::int64_t kBeatMs = 100;
// As kBeatMs, while a gate is shut: clients wait for its VIPs from the proof on.
inline constexpr std::int64_t kShutBeatMs = 10;

// How long an instance that was fenced or replaced stays silent before its process ends: until its
// VIPs are gone. The supervisor reads the pulse five times a second, and removes them at once.
inline constexpr std::int64_t kSilentEndMs = 1'000;
static_assert(kSilentEndMs >= 4 * (kBeatMs + 100));

// How often a shut door looks whether what was begun has ended: part of every move.
inline constexpr std::int64_t kDrainPollUs = 500;
// When replies wait for acknowledgements and none came for this long, the clients are gone: it is
// several retransmissions of TCP (200 ms at first, RFC 6298 and Linux's minimum).
inline constexpr std::int64_t kRepliesMs = 1'000;
// A client to which TCP had sent something again this often when the door was shut has been silent
// for at least 12.6 s (200 ms, doubled each time) and is gone. A client that was made silent by a
// short break of its path comes back within that time: its reply is worth the second, because in
// NFSv4.1 no record answers the request.
inline constexpr std::uint8_t kSilentAfterRetransmits = 6;
// Clients named in a move's record: the record is one transaction, and there may be thousands.
inline constexpr std::size_t kOutstandingNamed = 8;
// When the sockets are empty, a reply that is still in a queue is about to be written, or its
// transport has died: the wait for it is this long.
inline constexpr std::int64_t kLostRepliesMs = 50;
inline constexpr std::uint16_t kNfsPort = 2049;

// Addresses that are remembered for each export, to tell whom its removal concerns.
inline constexpr std::size_t kExportClientsMax = 4096;

// Pause before the next try after a volume could not adopt its new record, or a watch broke.
inline constexpr std::int64_t kGrowthRetryMs = 500;

// How long a request waits for the name services, the first time that they are asked about its
// client or its caller: services that work take some milliseconds, and clients notice no second.
inline constexpr std::int64_t kNameWaitMs = 1500;
inline constexpr std::int64_t kNameTickMs = 100;  // how exactly that is kept
// After this time what a name means is asked again, when somebody uses it.
inline constexpr std::int64_t kRefreshNamesMs = 60'000;
// As kRefreshNamesMs, after no answer, or a part of one.
inline constexpr std::int64_t kAskAgainMs = 2000;
// Threads that ask: so many services that hang at a time leave the others alone.
inline constexpr unsigned kNameThreads = 8;
// How many of them at most ask about owners: clients make up such names at will.
inline constexpr unsigned kOwnerThreads = kNameThreads / 4;
// Clients, or users, that are known: some 200 bytes each, and 4 for each group.
inline constexpr std::size_t kKnownAnswersMax = 65536;
// Owners, or groups, that clients give as names: far more than a site's clients use in a minute.
inline constexpr std::size_t kKnownOwnersMax = 1000;
inline constexpr std::int64_t kForgetNamesMs = 1000;  // between two looks for unused ones of them
// At most one line of the log in this time about services that do not answer.
inline constexpr std::int64_t kNameNoteMs = 60'000;
// Refusals (Kerberos) in the log: one of a client in this time, and of this many clients.
inline constexpr std::int64_t kRefusedClientPauseNs = 60'000'000'000;
inline constexpr std::size_t kRefusedClientsTold = 32;
// An entry of passwd at first, and at most.
inline constexpr std::size_t kPasswdBytes = 4096;
inline constexpr std::size_t kPasswdBytesMax = 1 << 20;
// Groups of a user at first, and at most (NGROUPS_MAX of Linux).
inline constexpr std::size_t kGroupsAtFirst = 64;
inline constexpr std::size_t kGroupsMax = 65536;

// How often the file with the heads' time is read again: vnfsd looks twice a second.
inline constexpr std::int64_t kClockReadMs = 500;

}  // namespace symnas::plugin
