// READ: finds the pieces in the map, reads them in parallel into one aligned buffer; holes and
// unwritten blocks are zeros.
#include <algorithm>
#include <cstring>

#include "fsal_cluster/data/file_reader.h"
#include "fsal_cluster/data/io_pin.h"

namespace symnas::fs {

// The parts that a READ fetches.
struct FileReader::ReadPlan {
  std::uint64_t offset = 0;
  std::uint64_t end = 0;  // end of the bytes that the file has; 0: none
  bool end_of_file = false;
  std::vector<FileMap::Piece> pieces;
};

Detached FileReader::read_operation(Handle handle, std::uint64_t offset, std::size_t bytes,
                                    ReadCallback done) {
  const RunningOperation running(context_.running);
  const FilePtr f = table_.file(handle.ino);
  Go before = Go::kOn;
  for (;;) {
    const Membership::Stay stay = context_.membership->enter();
    Attempt attempt;
    attempt.sole = stay.sole();
    attempt.published = before == Go::kWithPublish;
    Status ready;
    if (!attempt.sole && reads_often(*f)) {
      ready = co_await tokens_.obtain(*f, TokenMode::kShared, TokenUse::kRead);
    }
    Turn turn;
    if (ready) ready = co_await loader_.enter_shared(*f, handle, turn);
    if (!ready) {
      table_.forget_unused(f);
      done(tl::unexpected(ready.error()));
      co_return;
    }
    Result<ReadResult> result = co_await read_entered(*f, handle, attempt, offset, bytes);
    leave_shared(*f);
    before = attempt.go;
    if (attempt.go == Go::kAgain) continue;
    if (attempt.go == Go::kWithPublish) {
      const Status published = co_await tokens_.publish(*f);
      if (published) continue;
      result = tl::unexpected(published.error());
    }
    if (!result && result.error().code == ErrorCode::kFenced)
      context_.failed_for_good(result.error());
    done(std::move(result));
    co_return;
  }
}

bool FileReader::reads_often(FileState& f) {
  const std::int64_t now_ns = context_.clock.mono_ns();
  const MutexLock lock(f.mutex);
  if (now_ns - f.reads.last_ns > kLoneReadNs) f.reads.lone = 0;
  f.reads.last_ns = now_ns;
  return f.token.mode != TokenMode::kNone || ++f.reads.lone > kLoneReadsMax;
}

Task<Status> FileReader::make_current(FileState& f, const Handle& handle, Attempt& attempt) {
  bool going = false;  // the store may have erased the token and granted another mount's
  {
    const MutexLock lock(f.mutex);
    attempt.life = f.life;
    going = f.flag.state() == WriteFlag::State::kDropping;
    if (f.token.mode != TokenMode::kNone && !going) co_return Status{};
  }
  if (going) {
    attempt.go = Go::kAgain;
    co_await dropped_flag(f);
    co_return Status{};
  }
  if (!context_.membership->is_settled()) {
    attempt.go = Go::kAgain;
    co_await pause_for(context_, kUnsettledPauseNs);
    co_return Status{};
  }
  const Status passed = co_await pass_barrier(context_);
  if (!passed) co_return passed;
  // Looked at before the record is read: who gives an exclusive token back after that has recorded
  // what an older record lacks.
  const TokenSight sight = context_.tokens->sight(f.ino);
  attempt.unrecorded = !sight.complete || sight.foreign_exclusive;
  const Result<InodeRecord> record = co_await read_inode(context_, f);
  if (!record) co_return tl::unexpected(record.error());
  {
    const MutexLock lock(f.mutex);
    if (f.token.mode == TokenMode::kNone && f.loaded && f.record.loaded_at != record->revision)
      loader_.forget_map(f);
  }
  const Status loaded = co_await loader_.load(f, handle);
  if (!loaded) co_return loaded;
  const MutexLock lock(f.mutex);
  attempt.life = f.life;
  if (!f.loaded) attempt.go = Go::kAgain;
  co_return Status{};
}

Task<Status> FileReader::locate(FileState& f, Attempt& attempt, ReadPlan& plan) {
  const std::uint64_t first = plan.offset / kBlockBytes;
  bool loads = false;
  std::uint64_t size = 0;
  {
    const MutexLock lock(f.mutex);
    size = f.size();
    if (plan.offset < size) plan.end = std::min(size, plan.end);
    for (std::uint64_t chunk = first / kChunkBlocks; chunk * kMapChunkBytes < plan.end; ++chunk) {
      loads = loads || !f.map.loaded(chunk);
    }
  }
  plan.end_of_file = plan.offset >= size || plan.end >= size;
  const bool nothing = plan.offset >= size || plan.end <= plan.offset;
  const std::uint64_t last = (plan.end + kBlockBytes - 1) / kBlockBytes;
  if (!nothing && loads) {
    Attempt* const tokenless = attempt.sole ? nullptr : &attempt;
    const Status chunks = co_await loader_.load_chunks(f, first, last, tokenless);
    if (!chunks) co_return chunks;
  }
  const MutexLock lock(f.mutex);
  if (!attempt.sole && attempt.life != f.life) attempt.go = Go::kAgain;
  if (attempt.go != Go::kOn) co_return Status{};
  bool gap = plan.end_of_file;
  if (nothing) plan.end = plan.offset;
  for (std::uint64_t block = first; !nothing && block < last;) {
    const FileMap::Piece piece = f.map.find(block, last);
    block += piece.blocks;
    const bool data = piece.state == FileMap::State::kWritten;
    gap = gap || !data;
    if (!plan.pieces.empty()) {  // extents of neighbouring chunks are often one run
      FileMap::Piece& before = plan.pieces.back();
      const bool before_data = before.state == FileMap::State::kWritten;
      if (data == before_data &&
          (!data || before.volume_block + before.blocks == piece.volume_block)) {
        before.blocks += piece.blocks;
        continue;
      }
    }
    plan.pieces.push_back(piece);
  }
  const bool unsure = gap && !attempt.sole && !attempt.published && attempt.unrecorded;
  if (unsure && f.token.mode == TokenMode::kNone) attempt.go = Go::kWithPublish;
  co_return Status{};
}

Task<Result<ReadResult>> FileReader::read_entered(FileState& f, const Handle& handle,
                                                  Attempt& attempt, std::uint64_t offset,
                                                  std::size_t bytes) {
  const IoPin pin(*context_.space);
  ReadPlan plan;
  plan.offset = offset;
  plan.end = offset + bytes;
  Status located;
  if (!attempt.sole) located = co_await make_current(f, handle, attempt);
  if (located && attempt.go == Go::kOn) located = co_await locate(f, attempt, plan);
  if (!located) co_return tl::unexpected(located.error());
  ReadResult out;
  if (attempt.go != Go::kOn) co_return std::move(out);
  out.end_of_file = plan.end_of_file;
  out.bytes = plan.end - plan.offset;
  if (out.bytes == 0) co_return std::move(out);
  out.hole = std::none_of(plan.pieces.begin(), plan.pieces.end(), [](const FileMap::Piece& piece) {
    return piece.state == FileMap::State::kWritten;
  });
  const std::uint64_t end = plan.end;
  const std::uint64_t unit = context_.volume->logical_block_bytes();
  const std::uint64_t from = offset / unit * unit;
  const std::uint64_t to = (end + unit - 1) / unit * unit;
  out.buffer = context_.volume->buffer(to - from);
  out.offset_bytes = offset - from;
  Join reads;
  for (const FileMap::Piece& piece : plan.pieces) {
    const std::uint64_t piece_begin = piece.file_block * kBlockBytes;
    const std::uint64_t begin = std::max(from, piece_begin);
    const std::uint64_t stop = std::min(to, piece_begin + piece.blocks * kBlockBytes);
    const std::span<std::byte> into = out.buffer.span().subspan(begin - from, stop - begin);
    if (piece.state != FileMap::State::kWritten) {
      std::memset(into.data(), 0, into.size());
      continue;
    }
    const std::uint64_t at = piece.volume_block * kBlockBytes + (begin - piece_begin);
    context_.volume->read(VolumeOffset{at}, into, reads.callback());
  }
  const Status status = co_await reads;
  if (!status) co_return tl::unexpected(status.error());
  co_return std::move(out);
}

}  // namespace symnas::fs
