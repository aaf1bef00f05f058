// ALLOCATE: reserves the missing blocks in memory, then records them as unwritten, as a COMMIT
// records written ones. Until all are reserved nothing is visible, so a full volume leaves nothing
// behind.
#include <algorithm>

#include <fmt/core.h>

#include "fsal_cluster/data/space_changer.h"
#include "fsal_cluster/data/wait_for.h"
#include "fsal_cluster/quota/exemption.h"

namespace symnas::fs {

Status SpaceChanger::allocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) {
  return change_space(handle, offset.value(), bytes, &SpaceChanger::allocate_owned);
}

Status SpaceChanger::change_space(const Handle& handle, std::uint64_t offset, std::uint64_t bytes,
                                  SpaceChange change) {
  const RunningOperation running(context_.running);
  if (offset > kFileBytesMax || bytes > kFileBytesMax - offset) {
    return fail(ErrorCode::kOutOfRange, fmt::format("space for {} bytes at {}: files end at {}",
                                                    bytes, offset, kFileBytesMax));
  }
  Status changed = wait_for(change_space_task(handle, offset, offset + bytes, change));
  if (!changed && changed.error().code == ErrorCode::kFenced)
    context_.failed_for_good(changed.error());
  return changed;
}

Task<Status> SpaceChanger::change_space_task(Handle handle, std::uint64_t offset, std::uint64_t end,
                                             SpaceChange change) {
  QuotaAsking quota;
  quota.caller.exempt = QuotaExemption::of_this_thread();
  const FilePtr f = table_.file(handle.ino);
  for (;;) {
    if (quota.look_due) {
      Status looked = co_await quota_.look(quota);
      if (!looked) co_return looked;
    }
    std::optional<Membership::Stay> stay;
    Status status = co_await tokens_.enter_owned(*f, handle, stay);
    if (!status) {
      table_.forget_unused(f);
      co_return status;
    }
    Attempt attempt;
    bool nothing = offset >= end;  // then not even the flag is set: it would bring other times
    {
      const MutexLock lock(f->mutex);
      attempt.sole = stay->sole() && f->token.mode != TokenMode::kShared;
      nothing = nothing || (change == &SpaceChanger::deallocate_owned && offset >= f->size());
    }
    if (!nothing) status = co_await flags_.obtain(*f, attempt);
    if (status && attempt.go == Go::kOn && !nothing) {
      status = co_await committer_.commit_everything(*f);
      if (status) status = co_await (this->*change)(*f, quota, offset, end);
      writer_.end_write(*f);
    }
    leave_exclusive(*f);
    if (!status || (attempt.go == Go::kOn && !quota.look_due)) co_return status;
  }
}

Task<Status> SpaceChanger::allocate_owned(FileState& f, QuotaAsking& quota, std::uint64_t offset,
                                          std::uint64_t end) {
  const std::uint64_t first = offset / kBlockBytes;
  const std::uint64_t last = (end + kBlockBytes - 1) / kBlockBytes;
  Status status;
  std::optional<std::uint64_t> zero_from;
  std::uint64_t size = 0;
  {
    const MutexLock lock(f.mutex);
    size = f.size();
    if (end > size && !f.tail_clean) zero_from = size;
    trim_reservations(context_, f);
  }
  status = co_await sweeper_.wait_for_trim(f, std::max(size, end));
  if (status && zero_from) status = co_await writer_.zero_tail(f, *zero_from);
  if (status) status = context_.session.admit(kv::Growth::kGrows);
  if (status) status = co_await expect_room(f, first, last);
  if (!status) co_return status;
  const Result<std::uint64_t> upto = co_await reserve_blocks(f, quota, first, last);
  if (!upto || quota.look_due) {
    const MutexLock lock(f.mutex);
    for (const BlockRun& run : f.map.drop_reservations()) context_.space->give_back(run);
    f.charge.release_all();
    co_return upto ? Status{} : Status(tl::unexpected(upto.error()));
  }
  const std::uint64_t reached = std::min(end, *upto * kBlockBytes);
  status = co_await writer_.finish_write(f, reached, WriteStability::kFileSync, {});
  if (status) status = co_await committer_.commit_everything(f);
  if (status && *upto < last) {
    status = fail(ErrorCode::kBusy,
                  fmt::format("inode {}: allocated up to byte {} so far", f.ino.value(), reached));
  }
  co_return status;
}

// Who takes all there is, in vain, leaves others without room meanwhile. What the file has already
// may be a part of what it wants.
Task<Status> SpaceChanger::expect_room(FileState& f, std::uint64_t first, std::uint64_t last) {
  if (last - first <= context_.space->ready_blocks()) co_return Status{};
  const Result<InodeRecord> record = co_await read_inode(context_, f);
  if (!record) co_return tl::unexpected(record.error());
  Awaited<Result<Space::Use>> answer;
  context_.background->post([this, &answer] { answer.deliver(context_.space->use()); });
  const Result<Space::Use> use = co_await answer;
  if (!use) co_return tl::unexpected(use.error());
  const std::uint64_t room = use->free_blocks + record->inode.used_blocks();
  if (last - first <= room) co_return Status{};
  co_return fail(ErrorCode::kNoSpace,
                 fmt::format("filesystem {}: {} blocks are wanted, {} are free",
                             context_.options.fs.value(), last - first, use->free_blocks));
}

Task<Result<std::uint64_t>> SpaceChanger::reserve_blocks(FileState& f, QuotaAsking& quota,
                                                         std::uint64_t first, std::uint64_t last) {
  const bool limited = quota_.any();
  if (limited) {
    const Status identified = co_await quota_.identify(f, quota);
    if (!identified) co_return tl::unexpected(identified.error());
  }
  std::uint64_t block = first;
  for (std::size_t runs = 0; block < last && runs < kAllocateRunsMax;) {
    bool loaded = false;
    bool full = false;
    Status admitted;
    {
      const MutexLock lock(f.mutex);
      loaded = f.map.loaded(block / kChunkBlocks);
      if (loaded) {
        const FileMap::Piece piece = f.map.find(block, last);
        std::uint64_t done = piece.blocks;
        if (piece.state == FileMap::State::kHole) {
          const auto run = context_.space->allocate(wish_at(f.map, block, piece.blocks));
          full = !run;
          done = run ? run->blocks : 0;
          if (run) f.map.allocate(block, *run);
          if (run && limited) admitted = quota_.admit(f, quota, run->blocks);
          ++runs;
        }
        block += done;
      }
    }
    if (!admitted) co_return tl::unexpected(admitted.error());
    if (quota.look_due) co_return first;
    Status status;
    if (!loaded) {
      const std::uint64_t next = (block / kChunkBlocks + kChunksPerRead) * kChunkBlocks;
      status = co_await loader_.load_chunks(f, block, std::min(last, next));
    } else if (full) {
      status = co_await writer_.wait_for_room(f);
    }
    if (!status) co_return tl::unexpected(status.error());
  }
  co_return block;
}

}  // namespace symnas::fs
