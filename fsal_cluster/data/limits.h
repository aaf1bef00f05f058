// Bounds of fsal_cluster/data, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/kv/store.h"
#include "fsal_cluster/space/limits.h"

namespace symnas::fs {

inline constexpr std::uint32_t kBlockBytes = 4096;  // allocation block of schema version 1
// One map key per chunk: 1 TiB of file is 16,384 keys, and a chunk in 4 KiB extents (the worst)
// still fits a transaction.
inline constexpr std::uint64_t kMapChunkBytes = std::uint64_t{64} << 20;
inline constexpr std::uint32_t kChunkBlocks = kMapChunkBytes / kBlockBytes;
// Small files keep their map in the inode record: one key less for the great majority of files.
inline constexpr std::uint64_t kInlineBytesMax = std::uint64_t{1} << 20;
inline constexpr std::size_t kInlineExtentsMax = 4;
// Large sparse files are allocated in whole units with a bitmap: random 8 KiB writes must not make
// one extent each.
inline constexpr std::uint32_t kUnitBlocks = (std::uint32_t{1} << 20) / kBlockBytes;
// Contiguous space reserved ahead of a sequential writer: as much as it has written, within these
// bounds.
inline constexpr std::uint64_t kReserveBlocksMin = 16;     // 64 KiB
inline constexpr std::uint64_t kReserveBlocksMax = 16384;  // 64 MiB
// Clients send sequential writes out of order: a write still counts as sequential when it begins
// beyond the end by at most so many times its own length.
inline constexpr std::uint64_t kGapPerWrite = 16;
// Bounds of one transaction of a mapping change: reverse-map keys and bytes. They are far below the
// store's limits, because operations of others share the batch.
inline constexpr std::size_t kReverseMapPutsPerTxn = 128;
inline constexpr std::size_t kMapBytesPerTxn = 256 << 10;
// A partial truncate of at most so many key changes is one transaction; a larger one leaves a
// watermark and a sweep.
inline constexpr std::size_t kTruncateOpsMax = 256;
inline constexpr std::uint64_t kTruncateChunksMax = 16;  // chunks loaded to count the changes
// One ALLOCATE has at most so many runs of blocks: 1 TiB where space is contiguous, 128
// transactions, some seconds. A larger one goes on when the client repeats it.
inline constexpr std::size_t kAllocateRunsMax = 16384;
// One DEALLOCATE has at most so many transactions (each up to kTruncateOpsMax changes).
inline constexpr int kDeallocateStepsMax = 256;
// One SEEK looks at so many map chunks (256 GiB of file), and reads so many of them at once. Beyond
// that it says that there is data: zeros, perhaps, which a copy reads like any other.
inline constexpr std::uint64_t kSeekChunksMax = 4096;
inline constexpr std::uint64_t kChunksPerRead = 64;
inline constexpr std::size_t kSweepOpsMax = 256;
inline constexpr int kSweepRetriesMax = 600;  // one a second: then the next mount does it
// A mapping transaction conflicts only with another change of the same inode record: a handful of
// rounds is always enough.
inline constexpr int kConflictRetriesMax = 64;
inline constexpr int kConflictRetriesBeforePause = 3;
inline constexpr std::int64_t kConflictPauseNs = 2'000'000;
// Files whose decoded map stays in memory (about 1 KiB each). Beyond it idle files are forgotten:
// loading one again from the session's cache costs some microseconds.
inline constexpr std::size_t kFileStatesMax = 8192;
inline constexpr std::size_t kFileTableShards = 64;
// Period of the round that drops write flags, commits idle dirty files and returns reservations.
inline constexpr std::int64_t kTickNs = 250'000'000;
// An idle file's reservation goes back after this long, and a dirty idle file is committed.
inline constexpr std::int64_t kIdleNs = 2'000'000'000;
// How often it is logged of one file that it cannot be committed, swept, or given to another mount.
inline constexpr std::int64_t kFailureLogNs = 60'000'000'000;
inline constexpr std::size_t kTokenErasesPerTxn = 128;
// Rounds in which a flush gives tokens back: a tick may put some back meanwhile; and one more
// round.
inline constexpr int kFlushRoundsMax = 4;
// Files that a mount hands on to the next one of its VNFS: some batches of grants.
inline constexpr std::size_t kFilesInUseMax = 64;
// A token without the write flag goes back after nobody has used it for this long.
inline constexpr std::int64_t kTokenIdleNs = 10'000'000'000;
// So many READs of a file within kLoneReadNs pay a barrier each; beyond it a token is cheaper.
inline constexpr std::uint32_t kLoneReadsMax = 4;
inline constexpr std::int64_t kLoneReadNs = 1'000'000'000;
// Pause while the last operations that began as sole end.
inline constexpr std::int64_t kUnsettledPauseNs = 1'000'000;
// A want that could not be answered (the store refuses, a LUN fails) is tried again after this.
inline constexpr std::int64_t kWantRetryNs = 500'000'000;
// A token stays at least so long after its grant, so that the operation for which it was got comes
// first. Without it two mounts may take it from each other for ever before either has used it. Far
// below the time that giving it back takes.
inline constexpr std::int64_t kGrantStaysNs = 1'000'000;
// Writes counted below one record revision: change has 16 bits for them. A metadata transaction is
// asked for early: from then on 61,439 more writes go on without an answer of etcd (some seconds of
// 8 KiB writes in place on a fast LUN). After the last number a write waits for the transaction.
inline constexpr std::uint32_t kChangeCountForce = 0x1000;
inline constexpr std::uint32_t kChangeCountMax = 0xFFFF;

static_assert(kReverseMapPutsPerTxn * 3 + 16 < std::size_t{kv::kTxnOpsMax});
static_assert(kChangeCountForce < kChangeCountMax / 8, "most numbers are left while etcd is away");
static_assert(kTruncateOpsMax + 16 < std::size_t{kv::kTxnOpsMax});
static_assert(kChunkBlocks % kUnitBlocks == 0 && kUnitBlocks % kAlignBlocks == 0);

}  // namespace symnas::fs
