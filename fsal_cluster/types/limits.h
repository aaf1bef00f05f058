// Bounds of fsal_cluster's metadata side, each with its reason. Data has its own in data/limits.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symnas::fs {

// Names of one 54-bit hash in one directory: the slot is the cookie's low byte. That two names have
// one hash is already a one-in-10^16 event per pair; 256 of them can only be an attack with a
// leaked hash key.
inline constexpr std::size_t kBucketEntriesMax = 256;

// Inode numbers leased by one transaction: one lease per 16 Ki creates costs nothing and a crash
// loses at most that many of 2^64.
inline constexpr std::uint64_t kInoLeaseCount = 16'384;
inline constexpr std::uint64_t kFirstIno = 16;  // 1 is the root, 2..15 are reserved

// Keys of one bulk read: below etcd's default of 128 operations per transaction.
inline constexpr std::size_t kReadKeysMax = 128;
// Entries of one READDIR page, whatever was asked: bounds memory per request (about 1 MiB).
inline constexpr std::size_t kDirectoryPageMax = 4096;

// A conflict means that another operation made progress. With the pauses below about 3 s pass
// before an operation gives up (kConflict, which a client sees as "try later").
inline constexpr int kConflictRetriesMax = 200;
inline constexpr std::int64_t kConflictPauseMinUs = 50;
inline constexpr std::int64_t kConflictPauseMaxUs = 20'000;

// Files that FSSTAT reports: the store's size is the limit, no table; small enough for 32-bit
// counters of old clients.
inline constexpr std::uint64_t kFilesShown = 0x7fffffff;

// Levels of a directory tree: longer chains are refused where the tree is walked upwards (it is a
// cycle, or an absurd tree).
inline constexpr int kDirectoryDepthMax = 4096;

// Extended attributes (docs/decisions/0016-extended-attributes-live-in-etcd.md). Linux' own bounds
// of a name (without "user.") and of a value.
inline constexpr std::size_t kXattrNameBytesMax = 255;
inline constexpr std::size_t kXattrValueBytesMax = 65'536;
// Of one inode. All of them are read by one LISTXATTRS and erased by one transaction. Names and
// values together: one value of the largest size and as much again for all others; 50,000 such
// files fill the part of etcd's quota (8 GiB) that may be used.
inline constexpr std::uint32_t kXattrsMax = 255;
inline constexpr std::uint32_t kXattrBytesMax = 131'072;
static_assert(kXattrValueBytesMax + kXattrNameBytesMax <= kXattrBytesMax);

// Deadline of transactions outside a session (claim, end, format, remove): as long as an
// administrator waits without complaint.
inline constexpr std::int64_t kAdminDeadlineMs = 15'000;
// Keys deleted by one step of `fs rm`: an etcd member applies it in some milliseconds.
inline constexpr std::int64_t kRemoveStepKeys = 500;

// Longest sleep of the thread that carries out orders about locks: an order wakes it, and after
// this time it looks without one and tries again what failed.
inline constexpr std::int64_t kLockOrderWaitMs = 10'000;
inline constexpr std::int64_t kLockOrderRetryMs = 200;

// A mount carries out an order to clear a lock only while it is younger than this: longer than an
// administrator's command waits for it (kLockClearMs of vnfsd, 8 s).
inline constexpr std::int64_t kLockOrderValidNs = 10'000'000'000;

// How often an administrator's command looks whether its orders were obeyed.
inline constexpr std::int64_t kLockClearPollMs = 20;

// Orphans read at once by the sweep.
inline constexpr std::int64_t kSweepPageKeys = 128;
inline constexpr std::int64_t kSweepRetryMs = 5'000;  // after a failure (etcd away)

// T_gate (docs/design.md 6): how long one proof that a mount has not ended counts. An election with
// its retries fits in it several times.
inline constexpr std::int64_t kGateWindowNs = 8'000'000'000;
inline constexpr std::int64_t kHeartbeatNs = 1'000'000'000;
// How often a heartbeat looks whether the watch has brought its change back; the store answers in
// about as long.
inline constexpr std::int64_t kHeartbeatPollNs = 2'000'000;
static_assert(kGateWindowNs >= 4 * kHeartbeatNs, "one slow heartbeat does not close the gate");

// How long a heartbeat counts for answers that come from memory alone (decision 0024): part of the
// outage after a head was cut off from its LUNs only. An answer of etcd takes far less.
inline constexpr std::int64_t kLifeWindowNs = 450'000'000;
// Whoever answers from memory with a heartbeat older than this has the next one sent: so that a
// busy mount never waits for one.
inline constexpr std::int64_t kLifeRenewNs = kLifeWindowNs / 2;
// Time between two heartbeats that are asked for, at least: the first may have failed at once.
inline constexpr std::int64_t kHeartbeatMinNs = 5'000'000;
// A heartbeat that is not answered for so long is helped by a READ of the LUN, which is repeated as
// often: so a head that was cut off from both finds out that it has been fenced.
inline constexpr std::int64_t kTouchNs = 100'000'000;
inline constexpr std::size_t kTouchBytes = 4096;
// The same, while an answer waits for it.
inline constexpr std::int64_t kTouchWantedNs = 10'000'000;

// A mount becomes sole (again) when there was no other mount for this long: one that restarts
// meanwhile need not ask it to make room.
inline constexpr std::int64_t kSoloAfterNs = 5'000'000'000;
// How often a claim looks whether the sole mount has made room: about a round trip of the store.
inline constexpr std::int64_t kSoloWaitPollMs = 10;
// How often a mount that makes room looks whether every operation that began while it was alone has
// ended: a joining mount waits for that.
inline constexpr std::int64_t kDrainPollNs = 1'000'000;
// Mounts wait up to this long, at random, before they recover an ended one: so mostly one of them
// does it.
inline constexpr std::int64_t kTakeOverDelayMaxMs = 200;
// Wait before a mount that closed cleanly is recovered. Nobody waits for what it has left; its VNFS
// is being moved, and the next mount finds in the end record which files were in use.
inline constexpr std::int64_t kTakeOverAfterCloseNs = 1'000'000'000;
// The membership keeper looks around at least as often, in case nothing woke it.
inline constexpr std::int64_t kKeeperPollMs = 200;
// Wait after a failure (etcd away, LUN away).
inline constexpr std::int64_t kKeeperRetryMs = 1'000;

// Keys of mounts read at once. More than one page means that nobody recovers ended mounts (an
// instance that dies while it recovers, again and again). Even then all pages are read.
inline constexpr std::int64_t kMountPageKeys = 1024;
// Reads in one transaction; etcd's default --max-txn-ops is 128.
inline constexpr std::size_t kFilesystemsAtOnce = 64;

// Wants whose holders are looked up at once: below etcd's 128 operations of a transaction. An
// administrator wants to know who keeps the oldest ones waiting.
inline constexpr std::size_t kWantsLookedAt = 64;

}  // namespace symnas::fs
