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
// Sparse large files are allocated in whole units with a bitmap: random 8 KiB writes must not make
// an extent each.
inline constexpr std::uint32_t kUnitBlocks = (std::uint32_t{1} << 20) / kBlockBytes;
// Contiguous space reserved ahead of a sequential writer: as much as it has written, within these
// bounds.
inline constexpr std::uint64_t kReserveBlocksMin = 16;     // 64 KiB
inline constexpr std::uint64_t kReserveBlocksMax = 16384;  // 64 MiB
// Clients send sequential writes out of order: a gap beyond the end of up to so many times the
// write is still sequential.
inline constexpr std::uint64_t kGapPerWrite = 16;
// One transaction of a mapping change: reverse-map keys and bytes, far below the store's limits
// because operations of others share the batch.
inline constexpr std::size_t kReverseMapPutsPerTxn = 128;
inline constexpr std::size_t kMapBytesPerTxn = 256 << 10;
// Partial truncates up to so many key changes are one transaction; larger ones leave a watermark
// and a sweep.
inline constexpr std::size_t kTruncateOpsMax = 256;
inline constexpr std::uint64_t kTruncateChunksMax = 16;  // chunks loaded to find out
inline constexpr std::size_t kSweepOpsMax = 256;
inline constexpr int kSweepRetriesMax = 600;  // one a second: then the next mount does it
// A mapping transaction conflicts only with another change of the same inode record: a handful of
// rounds always suffices.
inline constexpr int kConflictRetriesMax = 64;
inline constexpr int kConflictRetriesBeforePause = 3;
inline constexpr std::int64_t kConflictPauseNs = 2'000'000;
// Files whose decoded map stays in memory (about 1 KiB each); beyond it idle ones are forgotten:
// loading one again from the session's cache costs some microseconds.
inline constexpr std::size_t kFileStatesMax = 8192;
inline constexpr std::size_t kFileTableShards = 64;
// The round that drops write flags, commits idle dirty files and returns reservations.
inline constexpr std::int64_t kTickNs = 250'000'000;
// An idle file's reservation goes back after this long, and a dirty idle file is committed.
inline constexpr std::int64_t kIdleNs = 2'000'000'000;
inline constexpr std::size_t kTokenErasesPerTxn = 128;
// A flush gives tokens back so often: what a tick puts back meanwhile, and once more.
inline constexpr int kFlushRoundsMax = 4;
// Files that a mount hands on to the next one of its VNFS: some batches of grants.
inline constexpr std::size_t kFilesInUseMax = 64;
// A token without the write flag that nobody has used for so long goes back.
inline constexpr std::int64_t kTokenIdleNs = 10'000'000'000;
// So many READs of a file within this long pay a barrier each; then a token is cheaper.
inline constexpr std::uint32_t kLoneReadsMax = 4;
inline constexpr std::int64_t kLoneReadNs = 1'000'000'000;
// While the last operations of a mount that was sole end.
inline constexpr std::int64_t kUnsettledPauseNs = 1'000'000;
// A want that could not be answered (the store refuses, a LUN fails) is tried again after this.
inline constexpr std::int64_t kWantRetryNs = 500'000'000;
// A token stays so long after its grant: the operation that it was got for comes first. Without it
// two mounts may take it from each other for ever before either has used it. Far below the time
// that giving it back takes.
inline constexpr std::int64_t kGrantStaysNs = 1'000'000;
// Writes counted below one record revision: change has 16 bits for them. A metadata transaction is
// asked for early: from then on 61,439 writes go on without an answer of etcd, at 8 KiB in place on
// a fast LUN some seconds; behind the last number a write waits for it.
inline constexpr std::uint32_t kChangeCountForce = 0x1000;
inline constexpr std::uint32_t kChangeCountMax = 0xFFFF;

static_assert(kReverseMapPutsPerTxn * 3 + 16 < std::size_t{kv::kTxnOpsMax});
static_assert(kChangeCountForce < kChangeCountMax / 8, "most numbers are left while etcd is away");
static_assert(kTruncateOpsMax + 16 < std::size_t{kv::kTxnOpsMax});
static_assert(kChunkBlocks % kUnitBlocks == 0 && kUnitBlocks % kAlignBlocks == 0);

}  // namespace symnas::fs
