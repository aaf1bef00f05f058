// SEEK: finds the next byte that was written, or that was not. What this mount has acknowledged and
// not recorded is in the map; what another mount has, it is asked to record first.
#include <algorithm>

#include "common/base/bytes.h"
#include "fsal_cluster/data/data_path.h"

namespace symnas::fs {

Result<std::optional<Sought>> DataPath::seek(const Handle& handle, FileOffset offset,
                                             Content content) {
  const RunningOperation running(running_);
  return wait_for(seek_task(handle, offset.value(), content));
}

Task<Result<std::optional<Sought>>> DataPath::seek_task(Handle handle, std::uint64_t offset,
                                                        Content content) {
  const FilePtr f = file(handle.ino);
  Go before = Go::kOn;
  for (;;) {
    const Membership::Stay stay = membership_->enter();
    Attempt attempt;
    attempt.sole = stay.sole();
    attempt.published = before == Go::kWithPublish;
    Turn turn;
    const Status entered = co_await enter_shared(*f, handle, turn);
    if (!entered) {
      forget_unused(f);
      co_return tl::unexpected(entered.error());
    }
    Result<std::optional<Sought>> sought =
        co_await seek_entered(*f, handle, attempt, offset, content);
    leave_shared(*f);
    before = attempt.go;
    if (attempt.go == Go::kAgain) continue;
    if (attempt.go == Go::kWithPublish) {
      const Status published = co_await publish(*f);
      if (published) continue;
      co_return tl::unexpected(published.error());
    }
    co_return sought;
  }
}

Task<Result<std::optional<Sought>>> DataPath::seek_entered(FileState& f, const Handle& handle,
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
      const Result<std::uint64_t> mapped = co_await next_mapped(f, block, last, tokenless);
      if (!mapped) co_return tl::unexpected(mapped.error());
      at = *mapped;
    } else {
      const std::uint64_t next = (block / kChunkBlocks + kChunksPerRead) * kChunkBlocks;
      const Status chunks = co_await load_chunks(f, block, std::min(last, next), tokenless);
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

Task<Result<std::uint64_t>> DataPath::next_mapped(FileState& f, std::uint64_t block,
                                                  std::uint64_t end, Attempt* tokenless) {
  while (block < end) {
    std::string from;
    std::uint64_t chunk = 0;
    {
      const MutexLock lock(f.mutex);
      if (tokenless != nullptr && tokenless->life != f.life) tokenless->go = Go::kAgain;
      if (tokenless != nullptr && tokenless->go != Go::kOn) co_return block;
      chunk = block / kChunkBlocks;
      if (f.map.loaded(chunk)) {
        const std::uint64_t stop = std::min(end, (chunk + 1) * kChunkBlocks);
        block = f.map.next_mapped(block, stop);
        if (block < stop) co_return block;
        continue;
      }
      from = kv::keys::map_chunk(options_.fs, f.ino, f.record.map_generation, chunk);
    }
    kv::KeyRange range = kv::prefix_range(from.substr(0, from.size() - sizeof chunk));
    const std::size_t number_at = from.size() - sizeof chunk;
    range.key = from;
    Awaited<Result<kv::OpResult>> answer;
    background_->post([this, range, &answer] { answer.deliver(session_.range(range, 1)); });
    const Result<kv::OpResult> found = co_await answer;
    if (!found) co_return tl::unexpected(found.error());
    std::uint64_t next = UINT64_MAX;
    if (!found->kvs.empty()) next = read_be64(found->kvs[0].key, number_at);
    {
      const MutexLock lock(f.mutex);
      next = std::min(next, f.map.next_in_memory(chunk));
    }
    if (next >= (end + kChunkBlocks - 1) / kChunkBlocks) co_return end;
    block = std::max(block, next * kChunkBlocks);
    const Status loaded = co_await load_chunks(f, block, block + 1, tokenless);
    if (!loaded) co_return tl::unexpected(loaded.error());
  }
  co_return end;
}

}  // namespace symnas::fs
