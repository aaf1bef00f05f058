// DEALLOCATE: zeros over the parts of blocks at both ends, then the blocks between are freed, a
// bounded number of records with each transaction.
#include <algorithm>

#include <fmt/core.h>

#include "fsal_cluster/data/map_changes.h"
#include "fsal_cluster/data/reverse_frees.h"
#include "fsal_cluster/data/space_changer.h"
#include "fsal_cluster/schema/inode.h"

namespace symnas::fs {

Status SpaceChanger::deallocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) {
  // Behind the end of every file there is nothing to free.
  const std::uint64_t begin = std::min(offset.value(), kFileBytesMax);
  return change_space(handle, begin, std::min(bytes, kFileBytesMax - begin),
                      &SpaceChanger::deallocate_owned);
}

Task<Status> SpaceChanger::deallocate_owned(FileState& f, QuotaAsking& /*quota*/,
                                            std::uint64_t offset, std::uint64_t end) {
  std::uint64_t size = 0;
  {
    const MutexLock lock(f.mutex);
    size = f.size();
    trim_reservations(context_, f);
  }
  end = std::min(end, size);
  Status status = co_await sweeper_.wait_for_trim(f, size);
  // Whole blocks; the one with the end of the file is one of them, and so are those that its map
  // chunk has behind it (of a sparse unit): no extent may begin there.
  const std::uint64_t first = (offset + kBlockBytes - 1) / kBlockBytes;
  const std::uint64_t last =
      end == size ? (end + kMapChunkBytes - 1) / kMapChunkBytes * kChunkBlocks : end / kBlockBytes;
  const std::uint64_t head_end = std::min(end, first * kBlockBytes);
  const std::uint64_t tail_begin = std::max(head_end, last * kBlockBytes);
  if (status) status = co_await writer_.zero_bytes(f, offset, head_end);
  if (status && tail_begin < end) status = co_await writer_.zero_bytes(f, tail_begin, end);
  // Also when an edge has failed: something of it, or the other one, may be zeros now.
  const Status noted = co_await writer_.finish_write(f, 0, WriteStability::kFileSync, {});
  if (status) status = noted;
  if (status && first < last) status = co_await punch_blocks(f, first, last);
  // Also when blocks are left: what was zeroed has its times with the answer.
  const Status recorded = co_await committer_.commit_everything(f);
  co_return status ? recorded : status;
}

Task<Status> SpaceChanger::punch_blocks(FileState& f, std::uint64_t first, std::uint64_t last) {
  int steps = 0;
  for (std::uint64_t block = first; block < last;) {
    const Result<std::uint64_t> mapped = co_await loader_.next_mapped(f, block, last, nullptr);
    if (!mapped) co_return tl::unexpected(mapped.error());
    if (*mapped >= last) break;
    const std::uint64_t until =
        std::min(last, (*mapped / kChunkBlocks + kTruncateChunksMax) * kChunkBlocks);
    const Status chunks = co_await loader_.load_chunks(f, *mapped, until);
    if (!chunks) co_return chunks;
    if (++steps > kDeallocateStepsMax) {
      co_return fail(ErrorCode::kBusy,
                     fmt::format("inode {}: freed up to block {} so far", f.ino.value(), block));
    }
    FileMap::Cut cut;
    {
      const MutexLock lock(f.mutex);
      cut = f.map.plan_punch(*mapped, until, kTruncateOpsMax);
    }
    block = cut.upto;
    const Status punched = co_await commit_punch(f, cut);
    if (!punched) co_return punched;
  }
  co_return Status{};
}

Task<Status> SpaceChanger::commit_punch(FileState& f, const FileMap::Cut& cut) {
  ReverseFrees frees(context_, f.ino, map_generation_of(f));
  for (int round = 0;; ++round) {
    const Status pause = co_await pause_after_conflict(context_, f, round);
    if (!pause) co_return pause;
    if (round == kConflictRetriesBeforePause) {
      const Result<bool> looked = co_await frees.look_async(cut.reverse);
      if (!looked) co_return tl::unexpected(looked.error());
    }
    Result<InodeRecord> record = co_await read_inode(context_, f);
    if (!record) co_return tl::unexpected(record.error());
    records::Inode& inode = record->inode;
    const std::int64_t now_ns = context_.session.next_time_ns();
    kv::Mutation mutation;
    mutation.growth = kv::Growth::kMustGo;
    mutation.compares.push_back(kv::mod_revision_is(context_.inode_key(f.ino), record->revision));
    bool chunked = false;
    {
      const MutexLock lock(f.mutex);
      const records::MapChunk& front = cut.chunks.front().value;
      chunked =
          f.record.chunked || static_cast<std::size_t>(front.extents_size()) > kInlineExtentsMax;
      if (chunked) {
        add_chunk_values(context_, cut.chunks, f, mutation);
        inode.set_chunked(true);
        inode.clear_extents();
      } else {
        *inode.mutable_extents() = front.extents();
      }
    }
    inode.set_used_blocks(static_cast<std::uint64_t>(
        static_cast<std::int64_t>(inode.used_blocks()) + cut.used_blocks_delta));
    inode.set_mtime_ns(now_ns);
    inode.set_ctime_ns(now_ns);
    mutation.writes.push_back(kv::put(context_.inode_key(f.ino), changed_inode(inode)));
    FreeIntent free(*context_.space, frees.add(cut.reverse, cut.freed, mutation));
    const Result<kv::Committed> committed = co_await commit_mutation(context_, mutation);
    if (!committed) co_return tl::unexpected(committed.error());
    if (!committed->succeeded) continue;
    {
      const MutexLock lock(f.mutex);
      f.version = table_.next_version();
      f.record.chunked = chunked;
      f.map.punch(cut, chunked ? committed->revision : Revision{0});
      f.unrecorded.dirty = false;  // the times of the transaction are newer than any write's
    }
    free.committed();
    frees.log_left(cut.reverse);
    co_return Status{};
  }
}

}  // namespace symnas::fs
