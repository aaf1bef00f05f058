// Size changes: everything that the file has pending is committed first; then size, times and the
// caller's edit change in one transaction. A shrink frees its blocks in that transaction when they
// are few. A shrink to zero takes the next map generation and leaves the old map to a sweep. A
// large partial shrink leaves a watermark (trim_block) above which the map is dead.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/check.h"
#include "fsal_cluster/data/attribute_changer.h"
#include "fsal_cluster/data/map_changes.h"
#include "fsal_cluster/data/reverse_frees.h"
#include "fsal_cluster/data/wait_for.h"
#include "fsal_cluster/schema/inode.h"

namespace symnas::fs {

struct AttributeChanger::SizeChange {
  std::uint64_t size_bytes = 0;
  FileMap::Cut cut;
  bool shrinks = false;
  bool drops_flag = false;                  // the transaction erases the token
  bool new_generation = false;              // the whole map is left to a sweep
  std::optional<std::uint64_t> trim_block;  // the map from here on is left to a sweep
  std::optional<records::Orphan> orphan;
  bool unlinked =
      false;  // the orphan record says `open` and stays; its removal sweeps every generation
};

Result<kv::Committed> AttributeChanger::set_size(const Handle& handle, std::uint64_t size_bytes,
                                                 MtimeIs mtime,
                                                 std::function<Status(records::Inode&)> inode,
                                                 std::optional<kv::Op> also) {
  const RunningOperation running(context_.running);
  if (size_bytes > kFileBytesMax) {
    return fail(ErrorCode::kOutOfRange,
                fmt::format("size {}: files end at {}", size_bytes, kFileBytesMax));
  }
  Edit edit{std::move(inode), std::move(also)};
  Result<kv::Committed> committed = wait_for(set_size_task(handle, size_bytes, mtime, edit));
  if (!committed && committed.error().code == ErrorCode::kFenced)
    context_.failed_for_good(committed.error());
  return committed;
}

Task<Result<kv::Committed>> AttributeChanger::set_size_task(Handle handle, std::uint64_t size_bytes,
                                                            MtimeIs mtime, Edit& edit) {
  const FilePtr f = table_.file(handle.ino);
  std::optional<Membership::Stay> stay;
  const Status entered = co_await tokens_.enter_owned(*f, handle, stay);
  if (!entered) {
    table_.forget_unused(f);
    co_return tl::unexpected(entered.error());
  }
  Result<kv::Committed> committed = co_await set_size_entered(*f, size_bytes, mtime, edit);
  leave_exclusive(*f);
  co_return committed;
}

Task<Result<kv::Committed>> AttributeChanger::set_size_entered(FileState& f,
                                                               std::uint64_t size_bytes,
                                                               MtimeIs mtime, Edit& edit) {
  Status status = co_await committer_.commit_everything(f);
  std::uint64_t touched = 0;  // the chunk of the old end is read and changed as well
  {
    const MutexLock lock(f.mutex);
    touched = std::max(size_bytes, f.size());
  }
  if (status) status = co_await sweeper_.wait_for_trim(f, touched);
  SizeChange change;
  change.size_bytes = size_bytes;
  std::optional<std::uint64_t> zero_from;
  {
    const MutexLock lock(f.mutex);
    change.shrinks = size_bytes < f.size();
    if (size_bytes > f.size() && !f.tail_clean) zero_from = f.size();
    if (change.shrinks) trim_reservations(context_, f);
  }
  if (status && zero_from) status = co_await writer_.zero_tail(f, *zero_from);
  if (status && change.shrinks) status = co_await plan_shrink(f, change);
  if (!status) co_return tl::unexpected(status.error());
  change.drops_flag = mtime == MtimeIs::kChosen;
  Drop drop = Drop::kNothing;
  if (change.drops_flag) drop = co_await begin_drop(f);
  Result<kv::Committed> committed = co_await commit_size(f, change, edit);
  if (change.drops_flag) end_drop(context_, f, drop, committed);
  co_return committed;
}

// Decides how the blocks go. REQUIRES: the I/O lock is held exclusively, nothing is pending.
Task<Status> AttributeChanger::plan_shrink(FileState& f, SizeChange& change) {
  const std::uint64_t keep = (change.size_bytes + kBlockBytes - 1) / kBlockBytes;
  std::uint64_t old_blocks = 0;
  bool chunked = false;
  records::Orphan orphan;
  orphan.set_truncated(true);
  {
    const MutexLock lock(f.mutex);
    chunked = f.record.chunked;
    old_blocks = (f.size() + kBlockBytes - 1) / kBlockBytes;
    orphan.set_generation(f.record.generation.value());
    orphan.set_map_generation(f.record.map_generation.value());
  }
  if (chunked && change.size_bytes == 0) {
    change.new_generation = true;
    change.orphan = orphan;
    co_return Status{};
  }
  const std::uint64_t own_chunk = keep / kChunkBlocks;
  const std::uint64_t last_chunk = old_blocks == 0 ? 0 : (old_blocks - 1) / kChunkBlocks;
  if (!chunked) {  // a map in the inode's record has few extents, however large the file is
    const MutexLock lock(f.mutex);
    change.cut = f.map.plan_cut(keep, last_chunk);
    co_return Status{};
  }
  const bool many = last_chunk > own_chunk + kTruncateChunksMax;
  if (!many) {
    const Status chunks =
        co_await loader_.load_chunks(f, own_chunk * kChunkBlocks, (last_chunk + 1) * kChunkBlocks);
    if (!chunks) co_return chunks;
    const MutexLock lock(f.mutex);
    change.cut = f.map.plan_cut(keep, last_chunk);
    if (change.cut.changes() <= kTruncateOpsMax) co_return Status{};
  }
  // Too much for one transaction: it cuts the chunk of the new end, a watermark covers the others.
  const Status chunks =
      co_await loader_.load_chunks(f, own_chunk * kChunkBlocks, (own_chunk + 1) * kChunkBlocks);
  if (!chunks) co_return chunks;
  const MutexLock lock(f.mutex);
  change.cut = f.map.plan_cut(keep, own_chunk);
  change.trim_block = (own_chunk + 1) * kChunkBlocks;
  if (change.cut.changes() > kTruncateOpsMax) {  // a fragmented chunk: the watermark lies in it
    change.cut = {};
    change.trim_block = keep;
  }
  // If an earlier trim is still running, the lower watermark holds for both.
  if (f.record.trim_block) change.trim_block = std::min(*change.trim_block, *f.record.trim_block);
  // The live map is dead only above the watermark.
  orphan.set_map_generation(f.record.map_generation.value() - 1);
  change.orphan = orphan;
  co_return Status{};
}

Task<Result<kv::Committed>> AttributeChanger::commit_size(FileState& f, SizeChange& change,
                                                          Edit& edit) {
  ReverseFrees frees(context_, f.ino, map_generation_of(f));
  for (int round = 0;; ++round) {
    const Status pause = co_await pause_after_conflict(context_, f, round);
    if (!pause) co_return tl::unexpected(pause.error());
    if (round == kConflictRetriesBeforePause) {
      const Result<bool> looked = co_await frees.look_async(change.cut.reverse);
      if (!looked) co_return tl::unexpected(looked.error());
    }
    Result<InodeRecord> record = co_await read_inode(context_, f);
    if (!record) co_return tl::unexpected(record.error());
    const std::int64_t now_ns = context_.session.next_time_ns();
    change.unlinked = record->inode.nlink() == 0;
    kv::Mutation mutation = size_mutation(f, change, *record);
    record->inode.set_mtime_ns(now_ns);
    record->inode.set_ctime_ns(now_ns);
    if (edit.inode) {
      const Status edited = edit.inode(record->inode);
      if (!edited) co_return tl::unexpected(edited.error());
    }
    mutation.writes.push_back(kv::put(context_.inode_key(f.ino), changed_inode(record->inode)));
    edit.add_to(mutation);
    FreeIntent free(*context_.space, frees.add(change.cut.reverse, change.cut.freed, mutation));
    const Result<kv::Committed> committed = co_await commit_mutation(context_, mutation);
    if (!committed) co_return tl::unexpected(committed.error());
    if (!committed->succeeded) continue;
    apply_size(f, change, *committed);
    free.committed();
    frees.log_left(change.cut.reverse);
    if (change.orphan) sweeper_.sweep_in_background(f.ino, *change.orphan, 0);
    co_return *committed;
  }
}

// The transaction without the put of the inode, which the caller's edit still changes.
kv::Mutation AttributeChanger::size_mutation(FileState& f, const SizeChange& change,
                                             InodeRecord& record) {
  records::Inode& inode = record.inode;
  kv::Mutation mutation;
  mutation.growth = change.shrinks ? kv::Growth::kMustGo : kv::Growth::kChanges;
  mutation.compares.push_back(kv::mod_revision_is(context_.inode_key(f.ino), record.revision));
  if (change.drops_flag) mutation.writes.push_back(kv::erase(context_.token_key(f.ino)));
  const MutexLock lock(f.mutex);
  inode.set_size_bytes(change.size_bytes);
  if (change.new_generation) {
    inode.set_map_generation(inode.map_generation() + 1);
    inode.clear_extents();
    inode.set_chunked(change.unlinked);
    inode.clear_trim_block();
    inode.set_used_blocks(0);
  } else {
    if (f.record.chunked) {
      add_chunk_values(context_, change.cut.chunks, f, mutation);
    } else if (!change.cut.chunks.empty()) {
      *inode.mutable_extents() = change.cut.chunks.front().value.extents();
    }
    inode.set_used_blocks(static_cast<std::uint64_t>(
        static_cast<std::int64_t>(inode.used_blocks()) + change.cut.used_blocks_delta));
    if (change.trim_block) inode.set_trim_block(*change.trim_block);
  }
  if (change.orphan && !change.unlinked) {
    mutation.writes.push_back(
        kv::put(kv::keys::orphan(context_.options.fs, f.ino), change.orphan->SerializeAsString()));
  }
  return mutation;
}

void AttributeChanger::apply_size(FileState& f, const SizeChange& change,
                                  const kv::Committed& committed) {
  const MutexLock lock(f.mutex);
  f.version = table_.next_version();
  f.record.size_bytes = change.size_bytes;
  f.growth.size_bytes = change.size_bytes;
  f.unrecorded.dirty = false;  // the times of the transaction are newer than any write's
  if (!change.shrinks) return;
  f.growth.tail_end_block = 0;
  f.growth.streak_blocks = 0;
  f.tail_clean = change.size_bytes % kBlockBytes == 0;
  if (change.new_generation) {
    f.record.map_generation = MapGeneration{f.record.map_generation.value() + 1};
    f.map.clear();
    f.record.chunked = change.unlinked;
    f.record.trim_block.reset();
    return;
  }
  const std::uint64_t keep = (change.size_bytes + kBlockBytes - 1) / kBlockBytes;
  f.map.cut(keep, change.cut, f.record.chunked ? committed.revision : Revision{0});
  if (change.trim_block) f.record.trim_block = change.trim_block;
}

}  // namespace symnas::fs
