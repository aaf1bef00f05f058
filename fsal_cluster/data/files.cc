// The table of files in use, their loading, and the I/O lock that every operation takes.
#include <algorithm>

#include <fmt/core.h>

#include "common/base/check.h"
#include "fsal_cluster/data/data_path.h"

namespace symnas::fs {

namespace {
Error stale(Ino ino) {
  return {ErrorCode::kStale, fmt::format("inode {} does not exist any more", ino.value())};
}
}  // namespace

DataPath::FilePtr DataPath::file(Ino ino) {
  if (file_count_.load(std::memory_order_relaxed) >= kFileStatesMax) evict_idle();
  Shard& shard = shards_[std::hash<Ino>{}(ino) % kFileTableShards];
  const MutexLock lock(shard.mutex);
  FilePtr& entry = shard.files[ino];
  if (!entry) {
    entry = std::make_shared<FileState>(ino, options_.group_blocks, next_version_.fetch_add(1));
    file_count_.fetch_add(1, std::memory_order_relaxed);
  }
  return entry;
}

DataPath::FilePtr DataPath::find_file(Ino ino) {
  Shard& shard = shards_[std::hash<Ino>{}(ino) % kFileTableShards];
  const MutexLock lock(shard.mutex);
  const auto it = shard.files.find(ino);
  return it == shard.files.end() ? nullptr : it->second;
}

// Forgets files that nobody refers to, and of which memory holds nothing but what the records say.
void DataPath::evict_idle() {
  static std::atomic<std::size_t> next_shard{0};
  Shard& shard = shards_[next_shard.fetch_add(1) % kFileTableShards];
  const MutexLock lock(shard.mutex);
  const std::size_t before = shard.files.size();
  std::erase_if(shard.files, [](const auto& entry) {
    if (entry.second.use_count() > 1)
      return false;  // only an operation that holds it could change it
    FileState& f = *entry.second;
    const MutexLock file_lock(f.mutex);
    return !f.listed && !f.unrecorded.dirty && f.flag.state() == WriteFlag::State::kClear;
  });
  file_count_.fetch_sub(before - shard.files.size(), std::memory_order_relaxed);
}

// Removes a file that could not be loaded (a stale handle) from the table.
void DataPath::forget_unused(const FilePtr& f) {
  Shard& shard = shards_[std::hash<Ino>{}(f->ino) % kFileTableShards];
  const MutexLock lock(shard.mutex);
  const auto it = shard.files.find(f->ino);
  if (it == shard.files.end() || it->second != f || f.use_count() > 2) return;
  {
    const MutexLock file_lock(f->mutex);
    const bool used = f->loaded || f->listed || f->flag.state() != WriteFlag::State::kClear;
    if (used && !f->removed) return;
  }
  shard.files.erase(it);
  file_count_.fetch_sub(1, std::memory_order_relaxed);
}

Task<Status> DataPath::enter_shared(FileState& f, const Handle& handle, Turn& turn) {
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

Task<Status> DataPath::enter_exclusive(FileState& f, const Handle& handle, Turn& turn) {
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

void DataPath::leave_shared(FileState& f) {
  std::vector<WaiterId> granted;
  {
    const MutexLock lock(f.mutex);
    f.io_lock.release_shared(granted);
  }
  wake(granted);
}

void DataPath::leave_exclusive(FileState& f) {
  std::vector<WaiterId> granted;
  {
    const MutexLock lock(f.mutex);
    f.io_lock.release_exclusive(granted);
  }
  wake(granted);
}

Task<Status> DataPath::load(FileState& f, const Handle& handle) {
  if (handle.fs != options_.fs) {
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
  std::vector<std::string> keys{inode_key(f.ino), token_key(f.ino)};
  Awaited<Result<std::vector<kv::CachedValue>>> answer;
  session_.read_async(std::move(keys), answer.callback());
  const Result<std::vector<kv::CachedValue>> values = co_await answer;
  if (!values) co_return tl::unexpected(values.error());
  const MutexLock lock(f.mutex);
  co_return adopt_record(f, handle, life, *values);
}

Status DataPath::adopt_record(FileState& f, const Handle& handle, std::uint64_t life,
                              const std::vector<kv::CachedValue>& values) {
  if (f.removed) return tl::unexpected(stale(f.ino));
  if (f.loaded) {
    if (f.record.generation != handle.generation) return tl::unexpected(stale(f.ino));
    return {};
  }
  // Takes the records as the cache has them now, not as they were when `values` were read: a trim
  // or an erase that finished in between has removed the watermark or the flag.
  const kv::CachedValue record = session_.peek(inode_key(f.ino)).value_or(values[0]);
  // While the cache is shut, the token can be changed by this mount only, and each erase of it
  // begins another life.
  auto held_token = session_.peek(token_key(f.ino));
  if (!held_token && f.life == life) held_token = values[1];
  if (!record.value) return tl::unexpected(stale(f.ino));
  records::Inode inode;
  if (!inode.ParseFromString(*record.value)) {
    return fail(ErrorCode::kCorrupt, fmt::format("inode {}: unreadable record", f.ino.value()));
  }
  if (inode.generation() != handle.generation.value()) return tl::unexpected(stale(f.ino));
  session_.saw_time_ns(inode.ctime_ns());
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
    f.flag.adopt(clock_.mono_ns());
    f.token.mode =
        token.mode() == records::TokenRecord::X ? TokenMode::kExclusive : TokenMode::kShared;
    list(f);
  }
  return {};
}

void DataPath::forget_map(FileState& f) {
  if (f.loaded) {
    for (const BlockRun& run : f.map.drop_reservations()) space_->give_back(run);
  }
  f.map.clear();
  f.loaded = false;
  f.record.loaded_at = Revision{0};
  f.record.trim_block.reset();
  f.record.chunked = false;
  f.tail_clean = false;
  f.growth = {};
  f.record.size_bytes = 0;
  f.version = next_version_.fetch_add(1);
  ++f.life;
}

Task<Status> DataPath::load_chunks(FileState& f, std::uint64_t first_block, std::uint64_t end_block,
                                   Attempt* tokenless) {
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
      const Status passed = co_await pass_barrier();
      if (!passed) co_return passed;
      const Result<InodeRecord> record = co_await read_inode(f);
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

Task<Status> DataPath::read_chunks(FileState& f, std::uint64_t first_block, std::uint64_t end_block,
                                   ChunkLoad& load) {
  std::vector<std::string> keys;
  std::vector<std::uint64_t>& wanted = load.wanted;
  {
    const MutexLock lock(f.mutex);
    load.life = f.life;
    for (std::uint64_t chunk = first_block / kChunkBlocks; chunk * kChunkBlocks < end_block;
         ++chunk) {
      if (f.map.loaded(chunk)) continue;
      wanted.push_back(chunk);
      keys.push_back(kv::keys::map_chunk(options_.fs, f.ino, f.record.map_generation, chunk));
    }
  }
  if (wanted.empty()) co_return Status{};
  const Status trimmed = co_await wait_for_trim(f, (wanted.back() + 1) * kMapChunkBytes);
  if (!trimmed) co_return trimmed;
  Awaited<Result<std::vector<kv::CachedValue>>> answer;
  session_.read_async(std::move(keys), answer.callback());
  Result<std::vector<kv::CachedValue>> values = co_await answer;
  if (!values) co_return tl::unexpected(values.error());
  load.values = std::move(*values);
  co_return Status{};
}

Status DataPath::take_chunks(FileState& f, const ChunkLoad& load) {
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

Task<Result<DataPath::InodeRecord>> DataPath::read_inode(FileState& f) {
  std::vector<std::string> keys{inode_key(f.ino)};
  Awaited<Result<std::vector<kv::CachedValue>>> answer;
  session_.read_async(std::move(keys), answer.callback());
  const Result<std::vector<kv::CachedValue>> values = co_await answer;
  if (!values) co_return tl::unexpected(values.error());
  if (!(*values)[0].value) co_return tl::unexpected(stale(f.ino));
  InodeRecord record;
  record.revision = (*values)[0].mod_revision;
  if (!record.inode.ParseFromString(*(*values)[0].value)) {
    co_return fail(ErrorCode::kCorrupt, fmt::format("inode {}: unreadable record", f.ino.value()));
  }
  session_.saw_time_ns(record.inode.ctime_ns());
  co_return record;
}

Task<Result<kv::Committed>> DataPath::commit_mutation(kv::Mutation& mutation) {
  Awaited<Result<kv::Committed>> answer;
  session_.commit(std::move(mutation), answer.callback());
  Result<kv::Committed> committed = co_await answer;
  co_return committed;
}

Task<Status> DataPath::pause_after_conflict(FileState& f, int round) {
  if (round >= kConflictRetriesMax) {
    co_return fail(
        ErrorCode::kConflict,
        fmt::format("inode {}: its records kept changing under {} tries", f.ino.value(), round));
  }
  if (round < kConflictRetriesBeforePause) co_return Status{};
  Turn turn;
  background_->post_at(clock_.mono_ns() + kConflictPauseNs, [&turn] { turn.deliver({}); });
  co_await turn;
  co_return Status{};
}

}  // namespace symnas::fs
