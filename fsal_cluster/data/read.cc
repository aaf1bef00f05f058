// READ: the pieces of the map, one aligned buffer, parallel reads; holes and unwritten blocks are
// zeros.
#include <algorithm>
#include <cstring>

#include "fsal_cluster/data/engine.h"

namespace symnas::fs {

void Engine::read(const Handle& handle, FileOffset offset, std::size_t bytes, ReadCallback done) {
  read_operation(handle, offset.value(), bytes, std::move(done));
}

Detached Engine::read_operation(Handle handle, std::uint64_t offset, std::size_t bytes,
                                ReadCallback done) {
  const RunningOperation running(*this);
  const FilePtr f = file(handle.ino);
  Turn turn;
  const Status entered = co_await enter_shared(*f, handle, turn);
  if (!entered) {
    forget_unused(f);
    done(tl::unexpected(entered.error()));
    co_return;
  }
  Result<ReadResult> result = co_await read_entered(*f, offset, bytes);
  leave_shared(*f);
  if (!result && result.error().code == ErrorCode::kFenced) failed_for_good(result.error());
  done(std::move(result));
}

Task<Result<ReadResult>> Engine::read_entered(FileState& f, std::uint64_t offset,
                                              std::size_t bytes) {
  const IoPin pin(*space_);
  std::uint64_t size = 0;
  {
    const std::scoped_lock lock(f.mutex);
    size = f.size();
  }
  ReadResult out;
  if (offset >= size || bytes == 0) {
    out.end_of_file = offset >= size;
    co_return std::move(out);
  }
  const std::uint64_t end = std::min<std::uint64_t>(size, offset + bytes);
  out.bytes = end - offset;
  out.end_of_file = end == size;
  const std::uint64_t first = offset / kBlockBytes;
  const std::uint64_t last = (end + kBlockBytes - 1) / kBlockBytes;
  const Status chunks = co_await load_chunks(f, first, last);
  if (!chunks) co_return tl::unexpected(chunks.error());

  std::vector<FileMap::Piece> pieces;
  {
    const std::scoped_lock lock(f.mutex);
    for (std::uint64_t block = first; block < last;) {
      const FileMap::Piece piece = f.map.find(block, last);
      block += piece.blocks;
      const bool data = piece.state == FileMap::State::kWritten;
      if (!pieces.empty()) {  // extents of neighbouring chunks are often one run
        FileMap::Piece& before = pieces.back();
        const bool before_data = before.state == FileMap::State::kWritten;
        if (data == before_data &&
            (!data || before.volume_block + before.blocks == piece.volume_block)) {
          before.blocks += piece.blocks;
          continue;
        }
      }
      pieces.push_back(piece);
    }
  }
  const std::uint64_t unit = volume_->logical_block_bytes();
  const std::uint64_t from = offset / unit * unit;
  const std::uint64_t to = (end + unit - 1) / unit * unit;
  out.buffer = volume_->buffer(to - from);
  out.offset_bytes = offset - from;
  Join reads;
  for (const FileMap::Piece& piece : pieces) {
    const std::uint64_t piece_begin = piece.file_block * kBlockBytes;
    const std::uint64_t begin = std::max(from, piece_begin);
    const std::uint64_t stop = std::min(to, piece_begin + piece.blocks * kBlockBytes);
    const std::span<std::byte> into = out.buffer.span().subspan(begin - from, stop - begin);
    if (piece.state != FileMap::State::kWritten) {
      std::memset(into.data(), 0, into.size());
      continue;
    }
    const std::uint64_t at = piece.volume_block * kBlockBytes + (begin - piece_begin);
    volume_->read(VolumeOffset{at}, into, reads.callback());
  }
  const Status status = co_await reads;
  if (!status) co_return tl::unexpected(status.error());
  co_return std::move(out);
}

}  // namespace symnas::fs
