// WRITE: I/O lock -> write flag -> range lock -> places for missing blocks -> volume -> memory ->
// commit if asked for.
#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "common/base/check.h"
#include "fsal_cluster/data/file_writer.h"
#include "fsal_cluster/quota/exemption.h"

namespace symnas::fs {
namespace {

std::uint64_t block_of(std::uint64_t byte) { return byte / kBlockBytes; }
std::uint64_t blocks_up(std::uint64_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes; }

cvm::Durability durability(WriteStability wanted) {
  return wanted == WriteStability::kUnstable ? cvm::Durability::kVolatile
                                             : cvm::Durability::kStable;
}

}  // namespace

Detached FileWriter::write_operation(Handle handle, std::uint64_t offset,
                                     std::span<const std::byte> data, WriteStability wanted,
                                     WriteCallback done) {
  const RunningOperation running(context_.running);
  if (offset > kFileBytesMax || data.size() > kFileBytesMax - offset) {
    done(fail(ErrorCode::kOutOfRange, fmt::format("write of {} bytes at {}: files end at {}",
                                                  data.size(), offset, kFileBytesMax)));
    co_return;
  }
  QuotaAsking quota;
  quota.caller.exempt = QuotaExemption::of_this_thread();
  const FilePtr f = table_.file(handle.ino);
  TokenMode needed = TokenMode::kShared;
  Status status;
  for (;;) {
    if (quota.look_due) status = co_await quota_.look(quota);
    if (!status) break;
    const Membership::Stay stay = context_.membership->enter();
    Attempt attempt;
    attempt.sole = stay.sole();
    attempt.quota = &quota;
    if (!attempt.sole || needed == TokenMode::kExclusive) {
      status = co_await tokens_.obtain(*f, needed, TokenUse::kWrite);
    }
    Turn turn;
    if (status) status = co_await loader_.enter_shared(*f, handle, turn);
    if (status) {
      // An S token from shared times stays S: a mount that joins again relies on what it says.
      const MutexLock lock(f->mutex);
      attempt.sole = attempt.sole && f->token.mode != TokenMode::kShared;
    }
    if (!status) {
      table_.forget_unused(f);
      done(tl::unexpected(status.error()));
      co_return;
    }
    if (!data.empty()) status = co_await write_entered(*f, attempt, offset, data, wanted);
    leave_shared(*f);
    if (attempt.go == Go::kWithAll) needed = TokenMode::kExclusive;
    if (!status || attempt.go == Go::kOn) break;
  }
  if (!status) {
    if (status.error().code == ErrorCode::kFenced) context_.failed_for_good(status.error());
    done(tl::unexpected(status.error()));
    co_return;
  }
  const bool unstable = wanted == WriteStability::kUnstable;
  done(WriteResult{data.size(), unstable ? WriteStability::kUnstable : WriteStability::kFileSync});
}

Task<Status> FileWriter::write_entered(FileState& f, Attempt& attempt, std::uint64_t offset,
                                       std::span<const std::byte> data, WriteStability wanted) {
  Status status = co_await sweeper_.wait_for_trim(f, offset + data.size());
  if (status) status = co_await flags_.obtain(f, attempt);
  if (!status || attempt.go != Go::kOn) co_return status;
  status = co_await write_flagged(f, attempt, offset, data, wanted);
  end_write(f);
  if (status && attempt.go == Go::kOn) status = co_await after_write(f, wanted);
  co_return status;
}

void FileWriter::end_write(FileState& f) {
  const MutexLock lock(f.mutex);
  --f.writes.running;
  f.writes.last_ns = context_.clock.mono_ns();
  f.flag.wrote(f.writes.last_ns);
  list(context_, f);
  uncharge_rest(f);
}

// Does what must precede the answer: commits the growth of a stable write, or a new revision before
// change runs out of numbers.
Task<Status> FileWriter::after_write(FileState& f, WriteStability wanted) {
  bool commit = false;
  bool renumber = false;
  {
    const MutexLock lock(f.mutex);
    commit = wanted != WriteStability::kUnstable && f.has_growth();
    if (f.unrecorded.change_n >= kChangeCountForce && !f.commits.renumbering) {
      f.commits.times = true;
      f.commits.renumbering = true;
      renumber = true;
    }
    commit = commit || f.unrecorded.change_n >= kChangeCountMax;
  }
  Status status;
  if (commit) {
    status = co_await committer_.commit_file(f, DropFlag::kMay);
  } else if (renumber) {
    committer_.commit_idle(f.shared_from_this(), DropFlag::kMay, nullptr);
  }
  co_return status;
}

Task<Status> FileWriter::write_flagged(FileState& f, Attempt& attempt, std::uint64_t offset,
                                       std::span<const std::byte> data, WriteStability wanted) {
  const std::uint64_t end = offset + data.size();
  const Status chunks = co_await loader_.load_chunks(f, block_of(offset), blocks_up(end));
  if (!chunks) co_return chunks;
  // Under S a write may change nothing but bytes (docs/architecture/several_mounts.md).
  const auto is_too_much = [&f, &attempt, end](const WriteLock& lock) REQUIRES(f.mutex) {
    const bool in_place =
        lock.mode == RangeLock::Mode::kShared && !lock.zero_from && end <= f.size();
    return !attempt.sole && f.token.mode != TokenMode::kExclusive && !in_place;
  };
  for (;;) {
    Turn turn;
    bool held = false;
    WriteLock mine;
    {
      const MutexLock lock(f.mutex);
      mine = choose_lock(f, offset, end);
      if (is_too_much(mine)) {
        attempt.go = Go::kWithAll;
        co_return Status{};
      }
      held = f.ranges.acquire(waiter_id(turn), mine.first_block, blocks_up(end), mine.mode);
    }
    if (!held) co_await turn;
    // The write may need more than it asked for when it began to wait: a write before it that
    // failed has left bytes behind the end.
    WriteLock needed;
    {
      const MutexLock lock(f.mutex);
      needed = choose_lock(f, offset, end);
      if (is_too_much(needed)) attempt.go = Go::kWithAll;
    }
    const bool enough =
        attempt.go == Go::kOn && mine.first_block <= needed.first_block &&
        (mine.mode == RangeLock::Mode::kExclusive || needed.mode == RangeLock::Mode::kShared);
    Status status;
    if (enough) status = co_await write_locked(f, attempt, offset, data, wanted, needed.zero_from);
    std::vector<WaiterId> granted;
    {
      const MutexLock lock(f.mutex);
      f.ranges.release(waiter_id(turn), granted);
    }
    wake(granted);
    if (enough || attempt.go != Go::kOn) co_return status;
  }
}

FileWriter::WriteLock FileWriter::choose_lock(const FileState& f, std::uint64_t offset,
                                              std::uint64_t end) const {
  WriteLock lock;
  lock.first_block = block_of(offset);
  lock.mode = RangeLock::Mode::kExclusive;
  if (end > f.size() && !f.tail_clean) {
    lock.zero_from = f.size();
    lock.first_block = std::min(lock.first_block, block_of(f.size()));
    return lock;
  }
  const std::uint32_t unit = context_.volume->logical_block_bytes();
  if (offset % unit != 0 || end % unit != 0) return lock;
  for (std::uint64_t block = block_of(offset); block < blocks_up(end);) {
    const FileMap::Piece piece = f.map.find(block, blocks_up(end));
    if (piece.state != FileMap::State::kWritten) return lock;
    block += piece.blocks;
  }
  lock.mode = RangeLock::Mode::kShared;
  return lock;
}

Task<Status> FileWriter::write_locked(FileState& f, Attempt& attempt, std::uint64_t offset,
                                      std::span<const std::byte> data, WriteStability wanted,
                                      std::optional<std::uint64_t> zero_from) {
  const std::uint64_t end = offset + data.size();
  std::optional<IoPin> pin;
  pin.emplace(*context_.space);
  if (zero_from) {
    const Status zeroed = co_await zero_tail(f, *zero_from);
    if (!zeroed) co_return zeroed;
  }
  WritePlan plan;
  Status status = co_await prepare_write(f, attempt, offset, end, plan, pin);
  if (!status || attempt.go != Go::kOn) co_return status;
  status = co_await submit_write(offset, data, wanted, plan);
  if (status) {
    status = co_await finish_write(f, end, wanted, plan);
  }
  if (!status) abort_write(f, end, plan);
  co_return status;
}

Task<Status> FileWriter::zero_tail(FileState& f, std::uint64_t size) {
  const Status zeroed = co_await zero_bytes(f, size, blocks_up(size) * kBlockBytes);
  if (!zeroed) co_return zeroed;
  const MutexLock lock(f.mutex);
  if (f.size() == size) f.tail_clean = true;  // otherwise a write elsewhere has moved the end
  co_return Status{};
}

Task<Status> FileWriter::zero_bytes(FileState& f, std::uint64_t begin, std::uint64_t end) {
  if (begin == end) co_return Status{};
  const std::uint64_t block = block_of(begin);
  const Status chunks = co_await loader_.load_chunks(f, block, block + 1);
  if (!chunks) co_return chunks;
  FileMap::Piece piece;
  {
    const MutexLock lock(f.mutex);
    piece = f.map.find(block, block + 1);
  }
  if (piece.state != FileMap::State::kWritten) co_return Status{};
  const cvm::Buffer zeros = context_.volume->buffer(end - begin);
  std::memset(zeros.data(), 0, end - begin);
  const std::span<const std::byte> bytes(zeros.data(), end - begin);
  Awaited<Status> answer;
  context_.volume->write_edges(VolumeOffset{piece.volume_block * kBlockBytes + begin % kBlockBytes},
                               bytes, cvm::Durability::kStable, answer.callback());
  Status written = co_await answer;
  co_return written;
}

// Finds a place for every block of the write, then lists the parts. REQUIRES: the blocks are
// locked.
Task<Status> FileWriter::prepare_write(FileState& f, Attempt& attempt, std::uint64_t offset,
                                       std::uint64_t end, WritePlan& plan,
                                       std::optional<IoPin>& pin) {
  const std::uint64_t first = block_of(offset);
  const std::uint64_t last = blocks_up(end);
  const bool limited = quota_.any();
  if (limited) {
    const Status identified = co_await quota_.identify(f, *attempt.quota);
    if (!identified) co_return identified;
  }
  for (;;) {
    std::optional<std::uint64_t> unknown;  // a block whose chunk must be loaded first
    {
      const MutexLock lock(f.mutex);
      const std::uint64_t eof = blocks_up(f.size());
      if (eof > 0 && !f.map.loaded((eof - 1) / kChunkBlocks)) unknown = eof - 1;
      bool full = false;
      while (!unknown && !full) {
        f.growth.reserve_max = std::min(kReserveBlocksMax, context_.space->ready_blocks() / 16);
        const auto wanted = next_placement(f.map, f.growth, first, last);
        if (!wanted) break;
        // Refused here, before anything is written: the commit of written blocks always goes.
        if (Status admitted = context_.session.admit(kv::Growth::kGrows); !admitted)
          co_return admitted;
        const auto run = context_.space->allocate(wanted->space);
        if (!run) {
          full = true;
          break;
        }
        f.map.add(wanted->file_block, *run, wanted->whole);
        if (wanted->sequential) {
          f.growth.tail_end_block = wanted->file_block + run->blocks;
          f.growth.streak_blocks += last - first;
        }
      }
      if (!unknown && !full) {
        // Refused here, before anything is written.
        Status admitted;
        if (limited) admitted = quota_.admit(f, *attempt.quota, f.map.growth_of(first, last));
        if (admitted && attempt.quota->look_due) {
          attempt.go = Go::kAfterLook;
        } else if (admitted) {
          list_parts(f, offset, end, plan);
        }
        co_return admitted;
      }
    }
    Status status;
    if (unknown) {
      status = co_await loader_.load_chunks(f, *unknown, *unknown + 1);
    } else {
      pin.reset();  // a pin would hold up the frees that it waits for
      status = co_await wait_for_room(f);
      pin.emplace(*context_.space);
    }
    if (!status) co_return status;
  }
}

void FileWriter::list_parts(FileState& f, std::uint64_t offset, std::uint64_t end,
                            WritePlan& plan) {
  const std::uint64_t last = blocks_up(end);
  for (std::uint64_t block = block_of(offset); block < last;) {
    const FileMap::Piece piece = f.map.find(block, last);
    CHECK(piece.state != FileMap::State::kHole);
    WritePart part;
    part.fill = piece.state == FileMap::State::kUnwritten;
    part.begin = block * kBlockBytes;
    part.end = (block + piece.blocks) * kBlockBytes;
    part.volume_byte = piece.volume_block * kBlockBytes;
    if (part.fill) {
      f.map.begin_fill(block, block + piece.blocks);
    } else {
      const std::uint64_t begin = std::max(part.begin, offset);
      part.volume_byte += begin - part.begin;
      part.begin = begin;
      part.end = std::min(part.end, end);
    }
    plan.push_back(part);
    block += piece.blocks;
  }
}

Task<Status> FileWriter::wait_for_room(FileState& f) {
  {
    const MutexLock lock(f.mutex);
    ++f.writes.want_room;
    list(context_, f);
  }
  Awaited<Result<Space::Room>> answer;
  context_.space->make_room(answer.callback());
  const Result<Space::Room> room = co_await answer;
  {
    const MutexLock lock(f.mutex);
    --f.writes.want_room;
  }
  if (!room) co_return tl::unexpected(room.error());
  if (*room == Space::Room::kNone) {
    co_return fail(ErrorCode::kNoSpace,
                   fmt::format("filesystem {}: the volume is full", context_.options.fs.value()));
  }
  co_return Status{};
}

Task<Status> FileWriter::submit_write(std::uint64_t offset, std::span<const std::byte> data,
                                      WriteStability wanted, const WritePlan& plan) {
  const std::uint64_t end = offset + data.size();
  const std::uint64_t base = block_of(offset) * kBlockBytes;
  const std::uint64_t span_bytes = blocks_up(end) * kBlockBytes - base;
  const cvm::Buffer buffer = context_.volume->buffer(span_bytes);
  std::byte* const bytes = buffer.data();
  std::memset(bytes, 0, offset - base);
  std::memcpy(bytes + (offset - base), data.data(), data.size());
  std::memset(bytes + (end - base), 0, base + span_bytes - end);
  const std::uint32_t unit = context_.volume->logical_block_bytes();
  Join writes;
  for (const WritePart& part : plan) {
    const std::span<const std::byte> from(bytes + (part.begin - base), part.end - part.begin);
    const VolumeOffset at{part.volume_byte};
    if (part.volume_byte % unit == 0 && from.size() % unit == 0) {
      context_.volume->write(at, from, durability(wanted), writes.callback());
    } else {
      context_.volume->write_edges(at, from, durability(wanted), writes.callback());
    }
  }
  co_return co_await writes;
}

void FileWriter::abort_write(FileState& f, std::uint64_t end, const WritePlan& plan) {
  const MutexLock lock(f.mutex);
  for (const WritePart& part : plan) {
    if (part.fill) {
      f.map.end_fill(block_of(part.begin), block_of(part.end), FileMap::Filled::kNo);
    }
  }
  const std::uint64_t tail = block_of(f.size());
  const bool in_tail = std::any_of(plan.begin(), plan.end(), [tail](const WritePart& part) {
    return !part.fill && block_of(part.begin) <= tail && tail < blocks_up(part.end);
  });
  if (end > f.size() && in_tail) f.tail_clean = false;
  // Parts of the failed write may have reached written blocks: that is a change, too.
  const bool in_place =
      std::any_of(plan.begin(), plan.end(), [](const WritePart& part) { return !part.fill; });
  if (!in_place) return;
  f.unrecorded.dirty = true;
  f.unrecorded.mtime_ns = std::max(f.unrecorded.mtime_ns, context_.session.next_time_ns());
  f.unrecorded.change_n = std::min(f.unrecorded.change_n + 1, kChangeCountMax);
  ++f.unrecorded.writes_seen;
}

Task<Status> FileWriter::finish_write(FileState& f, std::uint64_t end, WriteStability wanted,
                                      const WritePlan& plan) {
  const std::string key = context_.inode_key(f.ino);
  bool counted = false;
  for (;;) {
    const std::optional<kv::CachedValue> cached = context_.session.peek(key);
    if (!cached) {
      const Result<InodeRecord> record =
          co_await read_inode(context_, f);  // fills the session's cache
      if (!record && !counted) co_return tl::unexpected(record.error());
      if (!record) co_return Status{};
      continue;
    }
    const std::int64_t now_ns = context_.session.next_time_ns();
    const MutexLock lock(f.mutex);
    if (counted && f.unrecorded.change_base == cached->mod_revision) co_return Status{};
    if (f.unrecorded.change_base != cached->mod_revision) {
      f.unrecorded.change_base = cached->mod_revision;
      f.unrecorded.change_n = 0;
    }
    f.unrecorded.change_n = std::min(f.unrecorded.change_n + 1, kChangeCountMax);
    if (counted) continue;  // and look once more whether the record has changed
    counted = true;
    for (const WritePart& part : plan) {
      if (part.fill) {
        f.map.end_fill(block_of(part.begin), block_of(part.end), FileMap::Filled::kYes);
      }
    }
    if (wanted == WriteStability::kUnstable) f.writes.unflushed = true;
    f.growth.size_bytes = std::max(f.growth.size_bytes, end);
    f.unrecorded.dirty = true;
    f.unrecorded.mtime_ns = std::max(f.unrecorded.mtime_ns, now_ns);
    ++f.unrecorded.writes_seen;
  }
}

}  // namespace symnas::fs
