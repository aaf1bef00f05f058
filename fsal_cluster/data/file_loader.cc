#include "fsal_cluster/data/file_loader.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/bytes.h"

namespace symnas::fs {

Task<Status> FileLoader::enter_shared(FileState& f, const Handle& handle, Turn& turn) {
  bool held = false;
  {
    const MutexLock lock(f.mutex);
    held = f.io_lock.acquire_shared(waiter_id(turn));
  }
  if (!held) co_await turn;
  Status status = co_await load(f, handle);
  if (!status) leave_shared(f);
  co_return status;
}

Task<Status> FileLoader::enter_exclusive(FileState& f, const Handle& handle, Turn& turn) {
  bool held = false;
  {
    const MutexLock lock(f.mutex);
    held = f.io_lock.acquire_exclusive(waiter_id(turn));
  }
  if (!held) co_await turn;
  Status status = co_await load(f, handle);
  if (!status) leave_exclusive(f);
  co_return status;
}

void leave_shared(FileState& f) {
  std::vector<WaiterId> granted;
  {
    const MutexLock lock(f.mutex);
    f.io_lock.release_shared(granted);
  }
  wake(granted);
}

void leave_exclusive(FileState& f) {
  std::vector<WaiterId> granted;
  {
    const MutexLock lock(f.mutex);
    f.io_lock.release_exclusive(granted);
  }
  wake(granted);
}

Task<Status> FileLoader::load(FileState& f, const Handle& handle) {
  if (handle.fs != context_.options.fs) {
    co_return fail(ErrorCode::kBadHandle, "a handle of another filesystem");
  }
  std::uint64_t life = 0;
  {
    const MutexLock lock(f.mutex);
    if (f.removed) co_return tl::unexpected(stale(f.ino));
    if (f.loaded) {
      if (f.record.generation != handle.generation) co_return tl::unexpected(stale(f.ino));
      co_return Status{};
    }
    life = f.life;
  }
  std::vector<std::string> keys{context_.inode_key(f.ino), context_.token_key(f.ino)};
  Awaited<Result<std::vector<kv::CachedValue>>> answer;
  context_.session.read_async(std::move(keys), answer.callback());
  const Result<std::vector<kv::CachedValue>> values = co_await answer;
  if (!values) co_return tl::unexpected(values.error());
  const MutexLock lock(f.mutex);
  co_return adopt_record(f, handle, life, *values);
}

Status FileLoader::adopt_record(FileState& f, const Handle& handle, std::uint64_t life,
                                const std::vector<kv::CachedValue>& values) {
  if (f.removed) return tl::unexpected(stale(f.ino));
  if (f.loaded) {
    if (f.record.generation != handle.generation) return tl::unexpected(stale(f.ino));
    return {};
  }
  // Takes the records as the cache has them now, not as they were when `values` were read: a trim
  // or an erase that finished in between has removed the watermark or the flag.
  const kv::CachedValue record =
      context_.session.peek(context_.inode_key(f.ino)).value_or(values[0]);
  // While the cache is shut, the token can be changed by this mount only, and each erase of it
  // begins another life.
  auto held_token = context_.session.peek(context_.token_key(f.ino));
  if (!held_token && f.life == life) held_token = values[1];
  if (!record.value) return tl::unexpected(stale(f.ino));
  records::Inode inode;
  if (!inode.ParseFromString(*record.value)) {
    return fail(ErrorCode::kCorrupt, fmt::format("inode {}: unreadable record", f.ino.value()));
  }
  if (inode.generation() != handle.generation.value()) return tl::unexpected(stale(f.ino));
  context_.session.saw_time_ns(inode.ctime_ns());
  if (inode.type() == static_cast<std::uint32_t>(FileType::kDirectory)) {
    return fail(ErrorCode::kIsDirectory, fmt::format("inode {} is a directory", f.ino.value()));
  }
  if (inode.type() != static_cast<std::uint32_t>(FileType::kRegular)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("inode {} is not a regular file", f.ino.value()));
  }
  if (inode.chunked()) {
    f.map.load_chunked((inode.size_bytes() + kMapChunkBytes - 1) / kMapChunkBytes);
  } else {
    SYMNAS_TRY(f.map.load_inline(inode));
  }
  f.record.generation = handle.generation;
  f.record.map_generation = MapGeneration{inode.map_generation()};
  f.record.chunked = inode.chunked();
  if (inode.has_trim_block()) f.record.trim_block = inode.trim_block();
  f.record.size_bytes = inode.size_bytes();
  f.growth = {};
  f.growth.size_bytes = inode.size_bytes();
  f.loaded = true;
  f.record.loaded_at = record.mod_revision;
  records::TokenRecord token;
  if (f.flag.state() == WriteFlag::State::kClear && held_token && held_token->value &&
      token.ParseFromString(*held_token->value) && token.wrote()) {
    f.flag.adopt(context_.clock.mono_ns());
    f.token.mode =
        token.mode() == records::TokenRecord::X ? TokenMode::kExclusive : TokenMode::kShared;
    list(context_, f);
  }
  return {};
}

void FileLoader::forget_map(FileState& f) {
  if (f.loaded) {
    for (const BlockRun& run : f.map.drop_reservations()) context_.space->give_back(run);
  }
  f.map.clear();
  f.loaded = false;
  f.record.loaded_at = Revision{0};
  f.record.trim_block.reset();
  f.record.chunked = false;
  f.tail_clean = false;
  f.growth = {};
  f.record.size_bytes = 0;
  f.version = table_.next_version();
  ++f.life;
}

Task<Status> FileLoader::load_chunks(FileState& f, std::uint64_t first_block,
                                     std::uint64_t end_block, Attempt* tokenless) {
  for (;;) {
    ChunkLoad load;
    Status loaded = co_await read_chunks(f, first_block, end_block, load);
    if (!loaded || load.wanted.empty()) co_return loaded;
    bool sure = true;  // no other mount changes the chunks
    if (tokenless != nullptr) {
      const MutexLock lock(f.mutex);
      sure = f.token.mode != TokenMode::kNone && f.flag.state() != WriteFlag::State::kDropping;
    }
    if (!sure) {
      // The chunks may be younger than the record: they are of one moment only if the record has
      // not changed since.
      const Status passed = co_await pass_barrier(context_);
      if (!passed) co_return passed;
      const Result<InodeRecord> record = co_await read_inode(context_, f);
      if (!record) co_return tl::unexpected(record.error());
      const MutexLock lock(f.mutex);
      if (f.record.loaded_at != record->revision) tokenless->go = Go::kAgain;
    }
    if (tokenless != nullptr && tokenless->go != Go::kOn) co_return Status{};
    const MutexLock lock(f.mutex);
    if (f.life != load.life) continue;  // the chunks belong to a map that was forgotten
    loaded = take_chunks(f, load);
    co_return loaded;
  }
}

Task<Status> FileLoader::read_chunks(FileState& f, std::uint64_t first_block,
                                     std::uint64_t end_block, ChunkLoad& load) {
  std::vector<std::string> keys;
  std::vector<std::uint64_t>& wanted = load.wanted;
  {
    const MutexLock lock(f.mutex);
    load.life = f.life;
    for (std::uint64_t chunk = first_block / kChunkBlocks; chunk * kChunkBlocks < end_block;
         ++chunk) {
      if (f.map.loaded(chunk)) continue;
      wanted.push_back(chunk);
      keys.push_back(
          kv::keys::map_chunk(context_.options.fs, f.ino, f.record.map_generation, chunk));
    }
  }
  if (wanted.empty()) co_return Status{};
  const Status trimmed = co_await sweeper_.wait_for_trim(f, (wanted.back() + 1) * kMapChunkBytes);
  if (!trimmed) co_return trimmed;
  Awaited<Result<std::vector<kv::CachedValue>>> answer;
  context_.session.read_async(std::move(keys), answer.callback());
  Result<std::vector<kv::CachedValue>> values = co_await answer;
  if (!values) co_return tl::unexpected(values.error());
  load.values = std::move(*values);
  co_return Status{};
}

Status FileLoader::take_chunks(FileState& f, const ChunkLoad& load) {
  for (std::size_t i = 0; i < load.wanted.size(); ++i) {
    records::MapChunk chunk;
    const kv::CachedValue& value = load.values[i];
    if (value.value && !chunk.ParseFromString(*value.value)) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("inode {}: unreadable map chunk {}", f.ino.value(), load.wanted[i]));
    }
    const Revision revision = value.value ? value.mod_revision : Revision{0};
    Status loaded = f.map.load_chunk(load.wanted[i], chunk, revision);
    if (!loaded) {
      loaded.error().message = fmt::format("inode {}: {}", f.ino.value(), loaded.error().message);
      return loaded;
    }
  }
  return {};
}

Task<Result<std::uint64_t>> FileLoader::next_mapped(FileState& f, std::uint64_t block,
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
      from = kv::keys::map_chunk(context_.options.fs, f.ino, f.record.map_generation, chunk);
    }
    kv::KeyRange range = kv::prefix_range(from.substr(0, from.size() - sizeof chunk));
    const std::size_t number_at = from.size() - sizeof chunk;
    range.key = from;
    Awaited<Result<kv::OpResult>> answer;
    context_.background->post(
        [this, range, &answer] { answer.deliver(context_.session.range(range, 1)); });
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
