// SEEK: finds the next byte that was written, or that was not. What this mount has acknowledged and
// not recorded is in the map; what another mount has, it is asked to record first.
#include <algorithm>

#include "common/base/bytes.h"
#include "fsal_cluster/data/file_reader.h"
#include "fsal_cluster/data/wait_for.h"

namespace symnas::fs {

Result<std::optional<Sought>> FileReader::seek(const Handle& handle, FileOffset offset,
                                               Content content) {
  const RunningOperation running(context_.running);
  return wait_for(seek_task(handle, offset.value(), content));
}

Task<Result<std::optional<Sought>>> FileReader::seek_task(Handle handle, std::uint64_t offset,
                                                          Content content) {
  const FilePtr f = table_.file(handle.ino);
  Go before = Go::kOn;
  for (;;) {
    const Membership::Stay stay = context_.membership->enter();
    Attempt attempt;
    attempt.sole = stay.sole();
    attempt.published = before == Go::kWithPublish;
    Turn turn;
    const Status entered = co_await loader_.enter_shared(*f, handle, turn);
    if (!entered) {
      table_.forget_unused(f);
      co_return tl::unexpected(entered.error());
    }
    Result<std::optional<Sought>> sought =
        co_await seek_entered(*f, handle, attempt, offset, content);
    leave_shared(*f);
    before = attempt.go;
    if (attempt.go == Go::kAgain) continue;
    if (attempt.go == Go::kWithPublish) {
      const Status published = co_await tokens_.publish(*f);
      if (published) continue;
      co_return tl::unexpected(published.error());
    }
    co_return sought;
  }
}

Task<Result<std::optional<Sought>>> FileReader::seek_entered(FileState& f, const Handle& handle,
                                                             Attempt& attempt, std::uint64_t offset,
                                                             Content content) {
  std::optional<Sought> out;
  if (!attempt.sole) {
    const Status current = co_await make_current(f, handle, attempt);
    if (!current) co_return tl::unexpected(current.error());
    if (attempt.go != Go::kOn) co_return out;
  }
  std::uint64_t size = 0;
  {
    const MutexLock lock(f.mutex);
    const bool unsure = !attempt.sole && attempt.unrecorded && !attempt.published;
    if (unsure && f.token.mode == TokenMode::kNone) attempt.go = Go::kWithPublish;
    size = f.size();
  }
  if (attempt.go != Go::kOn || offset >= size) co_return out;
  Attempt* const tokenless = attempt.sole ? nullptr : &attempt;
  const std::uint64_t first = offset / kBlockBytes;
  const std::uint64_t last = (size + kBlockBytes - 1) / kBlockBytes;
  const std::uint64_t far = (first / kChunkBlocks + kSeekChunksMax) * kChunkBlocks;
  for (std::uint64_t block = first; block < last;) {
    std::uint64_t at = block;
    if (content == Content::kData) {
      const Result<std::uint64_t> mapped = co_await loader_.next_mapped(f, block, last, tokenless);
      if (!mapped) co_return tl::unexpected(mapped.error());
      at = *mapped;
    } else {
      const std::uint64_t next = (block / kChunkBlocks + kChunksPerRead) * kChunkBlocks;
      const Status chunks = co_await loader_.load_chunks(f, block, std::min(last, next), tokenless);
      if (!chunks) co_return tl::unexpected(chunks.error());
    }
    const MutexLock lock(f.mutex);
    if (!attempt.sole && attempt.life != f.life) attempt.go = Go::kAgain;
    if (attempt.go != Go::kOn) co_return out;
    if (at >= last) break;
    const FileMap::Piece piece = f.map.find(at, last);
    const bool data = piece.state == FileMap::State::kWritten;
    const bool too_far = at >= far && content == Content::kData;
    if (data == (content == Content::kData) || too_far) {
      out = Sought{std::max(offset, at * kBlockBytes), false};
      co_return out;
    }
    block = at + piece.blocks;
    if (block >= far && content == Content::kHole) break;
  }
  out = Sought{size, true};  // the virtual hole at the end, or no more data
  co_return out;
}

}  // namespace symnas::fs
