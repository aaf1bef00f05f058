#include "fsal_cluster/data/map_sweeper.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "fsal_cluster/data/reverse_frees.h"
#include "fsal_cluster/schema/inode.h"

namespace symnas::fs {
namespace {

namespace keys = kv::keys;

constexpr std::int64_t kSweepPage = 16;  // map chunks read at a time: up to some hundred KiB
constexpr std::int64_t kSweepRetryNs = 1'000'000'000;

}  // namespace

// Erases one map key with the reverse-map keys of its extents; a large one in steps. kConflict:
// another operation has changed the key, or `guard` (the reason why the map is dead) does not hold
// any more.
Status MapSweeper::sweep_chunk(const kv::KeyValue& chunk, const std::optional<kv::Compare>& guard) {
  records::MapChunk value;
  if (!value.ParseFromString(chunk.value)) {
    return fail(ErrorCode::kCorrupt, "unreadable map chunk " + to_hex(chunk.key));
  }
  // The key ends with inode, generation and chunk.
  const std::size_t end = chunk.key.size();
  ReverseFrees frees(context_, Ino{read_be64(chunk.key, end - 20)},
                     MapGeneration{read_be32(chunk.key, end - 12)});
  const std::uint64_t base = read_be64(chunk.key, end - 8) * kChunkBlocks;
  Revision revision = chunk.mod_revision;
  for (;;) {
    const int take = std::min<int>(value.extents_size(), kSweepOpsMax);
    kv::Mutation mutation;
    mutation.growth = kv::Growth::kMustGo;
    mutation.compares.push_back(kv::mod_revision_is(chunk.key, revision));
    if (guard) mutation.compares.push_back(*guard);
    std::vector<ReverseChange> changes;
    std::vector<BlockRun> freed;
    for (int i = value.extents_size() - take; i < value.extents_size(); ++i) {
      const records::Extent& extent = value.extents(i);
      changes.push_back({extent.volume_block(), base + extent.file_block(), extent.blocks(), 0});
      freed.push_back({extent.volume_block(), extent.blocks()});
    }
    records::MapChunk left = value;
    left.mutable_extents()->DeleteSubrange(value.extents_size() - take, take);
    const bool last = left.extents_size() == 0;
    mutation.writes.push_back(last ? kv::erase(chunk.key)
                                   : kv::put(chunk.key, left.SerializeAsString()));
    FreeIntent free(*context_.space, frees.add(changes, freed, mutation));
    SYMNAS_ASSIGN(const kv::Committed committed,
                  context_.session.commit_blocking(std::move(mutation)));
    if (!committed.succeeded) {
      SYMNAS_ASSIGN(const bool same, still_holds(kv::mod_revision_is(chunk.key, revision), guard));
      SYMNAS_ASSIGN(const bool anothers, same ? frees.look(changes) : Result<bool>(false));
      if (anothers) continue;
      return fail(ErrorCode::kConflict, "map chunk changed under a sweep");
    }
    free.committed();
    frees.log_left(changes);
    if (last) return {};
    value = std::move(left);
    revision = committed.revision;
  }
}

// After a conflict: whether these keys are as the transaction compared them. Then the reverse map
// was in its way, and not, as usual, another sweep: only then is each entry worth a read.
Result<bool> MapSweeper::still_holds(const kv::Compare& chunk,
                                     const std::optional<kv::Compare>& guard) {
  for (const kv::Compare* compare : {&chunk, guard ? &*guard : nullptr}) {
    if (compare == nullptr) continue;
    SYMNAS_ASSIGN(const kv::OpResult read, context_.session.range(compare->range, 1));
    const Revision now = read.kvs.empty() ? Revision{0} : read.kvs.front().mod_revision;
    if (now.value() != compare->number) return false;
  }
  return true;
}

Status MapSweeper::sweep_map_keys(kv::KeyRange range, const std::optional<kv::Compare>& guard) {
  for (int conflicts = 0;;) {
    SYMNAS_ASSIGN(const kv::OpResult page, context_.session.range(range, kSweepPage));
    if (page.kvs.empty()) return {};
    for (const kv::KeyValue& chunk : page.kvs) {
      const Status swept = sweep_chunk(chunk, guard);
      if (swept) continue;
      if (swept.error().code != ErrorCode::kConflict || guard) return swept;
      if (++conflicts > kConflictRetriesMax) return swept;
      break;
    }
  }
}

Status MapSweeper::sweep_orphan(Ino ino, const records::Orphan& orphan) {
  if (orphan.open()) return {};
  const RunningOperation running(context_.running);
  const MapGeneration live{orphan.map_generation() + 1};
  if (live.value() != 0) {  // 0: there is only a watermark, no dead generation
    SYMNAS_TRY(sweep_map_keys({keys::map_prefix(context_.options.fs, ino, MapGeneration{0}),
                               keys::map_prefix(context_.options.fs, ino, live)},
                              std::nullopt));
  }
  if (orphan.truncated()) SYMNAS_TRY(finish_trim(ino));
  return erase_orphan(ino, orphan.map_generation());
}

// Erases only the record that was swept: a newer one has more to free.
Status MapSweeper::erase_orphan(Ino ino, std::uint32_t map_generation) {
  const std::string key = keys::orphan(context_.options.fs, ino);
  SYMNAS_ASSIGN(const kv::OpResult found, context_.session.range(kv::single_key(key), 1));
  if (found.kvs.empty()) return {};
  records::Orphan orphan;
  if (!orphan.ParseFromString(found.kvs[0].value)) {
    return fail(ErrorCode::kCorrupt, "unreadable orphan record " + to_hex(key));
  }
  if (orphan.open() || orphan.map_generation() != map_generation) return {};
  if (orphan.truncated()) {  // a watermark that was set since then needs its record
    SYMNAS_ASSIGN(const kv::CachedValue record, context_.session.read(context_.inode_key(ino)));
    records::Inode inode;
    if (record.value && inode.ParseFromString(*record.value) && inode.has_trim_block()) return {};
  }
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares.push_back(kv::mod_revision_is(key, found.kvs[0].mod_revision));
  mutation.writes.push_back(kv::erase(key));
  SYMNAS_ASSIGN(const kv::Committed committed,
                context_.session.commit_blocking(std::move(mutation)));
  (void)committed;  // a conflict: there is a newer record, which has a sweep of its own
  return {};
}

Result<std::uint64_t> MapSweeper::count_used_blocks(Ino ino, MapGeneration generation) {
  kv::KeyRange range = kv::prefix_range(keys::map_prefix(context_.options.fs, ino, generation));
  std::uint64_t used = 0;
  for (;;) {
    SYMNAS_ASSIGN(const kv::OpResult page, context_.session.range(range, kSweepPage));
    for (const kv::KeyValue& kv : page.kvs) {
      records::MapChunk chunk;
      if (!chunk.ParseFromString(kv.value)) {
        return fail(ErrorCode::kCorrupt, "unreadable map chunk " + to_hex(kv.key));
      }
      for (const records::Extent& extent : chunk.extents()) used += extent.blocks();
    }
    if (!page.more || page.kvs.empty()) return used;
    range.key = page.kvs.back().key + '\0';
  }
}

// Frees what lies above the watermark: first the extents behind it in its own chunk, from the end,
// in steps; then the other chunks. kConflict as for sweep_chunk().
Status MapSweeper::sweep_above(Ino ino, const records::Inode& inode, const kv::Compare& guard) {
  const MapGeneration generation{inode.map_generation()};
  const std::uint64_t chunk = inode.trim_block() / kChunkBlocks;
  const std::string key = keys::map_chunk(context_.options.fs, ino, generation, chunk);
  ReverseFrees frees(context_, ino, generation);
  for (;;) {
    SYMNAS_ASSIGN(const kv::CachedValue value, context_.session.read(key));
    records::MapChunk record;
    if (value.value && !record.ParseFromString(*value.value)) {
      return fail(ErrorCode::kCorrupt, "unreadable map chunk " + to_hex(key));
    }
    FileMap map(context_.options.group_blocks);
    map.load_chunked(chunk + 1);
    SYMNAS_TRY(map.load_chunk(chunk, record, value.mod_revision));
    std::uint64_t from = inode.trim_block();
    if (const int more = record.extents_size() - static_cast<int>(kSweepOpsMax); more > 0) {
      from = std::max(from, chunk * kChunkBlocks + record.extents(more).file_block());
    }
    const FileMap::Cut cut = map.plan_cut(from, chunk);
    if (cut.chunks.empty()) break;
    const records::MapChunk& kept = cut.chunks.front().value;
    kv::Mutation mutation;
    mutation.growth = kv::Growth::kMustGo;
    mutation.compares = {kv::mod_revision_is(key, value.mod_revision), guard};
    mutation.writes.push_back(kept.extents_size() == 0 ? kv::erase(key)
                                                       : kv::put(key, kept.SerializeAsString()));
    FreeIntent free(*context_.space, frees.add(cut.reverse, cut.freed, mutation));
    SYMNAS_ASSIGN(const kv::Committed committed,
                  context_.session.commit_blocking(std::move(mutation)));
    if (!committed.succeeded) {
      SYMNAS_ASSIGN(const bool same,
                    still_holds(kv::mod_revision_is(key, value.mod_revision), guard));
      SYMNAS_ASSIGN(const bool anothers, same ? frees.look(cut.reverse) : Result<bool>(false));
      if (anothers) continue;
      return fail(ErrorCode::kConflict, "map chunk changed under a trim");
    }
    free.committed();
    frees.log_left(cut.reverse);
  }
  return sweep_map_keys(
      {keys::map_chunk(context_.options.fs, ino, generation, chunk + 1),
       kv::prefix_range(keys::map_prefix(context_.options.fs, ino, generation)).end},
      guard);
}

// Frees the map above the watermark, then removes the watermark.
Status MapSweeper::finish_trim(Ino ino) {
  const RunningOperation running(context_.running);
  for (int round = 0; round < kConflictRetriesMax; ++round) {
    SYMNAS_ASSIGN(const kv::CachedValue record, context_.session.read(context_.inode_key(ino)));
    records::Inode inode;
    if (record.value && !inode.ParseFromString(*record.value)) {
      return fail(ErrorCode::kCorrupt, fmt::format("inode {}: unreadable record", ino.value()));
    }
    if (record.value && inode.has_trim_block()) {
      // Two threads may do this at once (the sweep, and a writer that waits). What one of them sees
      // as dead is live again as soon as the other has removed the watermark and a write has
      // followed. The record's revision tells.
      const Status swept = sweep_above(
          ino, inode, kv::mod_revision_is(context_.inode_key(ino), record.mod_revision));
      if (!swept && swept.error().code == ErrorCode::kConflict) continue;
      SYMNAS_TRY(swept);
      inode.clear_trim_block();
      // The blocks above were not counted when the watermark was set. A map change meanwhile
      // changes the inode record as well: then the compare fails, and they are counted again.
      SYMNAS_ASSIGN(const std::uint64_t used,
                    count_used_blocks(ino, MapGeneration{inode.map_generation()}));
      inode.set_used_blocks(used);
      kv::Mutation mutation;
      mutation.growth = kv::Growth::kMustGo;
      mutation.compares.push_back(
          kv::mod_revision_is(context_.inode_key(ino), record.mod_revision));
      mutation.writes.push_back(kv::put(context_.inode_key(ino), changed_inode(inode)));
      SYMNAS_ASSIGN(const kv::Committed committed,
                    context_.session.commit_blocking(std::move(mutation)));
      if (!committed.succeeded) continue;
    }
    SYMNAS_ASSIGN(const bool forgotten, forget_watermark(ino));
    if (forgotten) return {};
  }
  return fail(ErrorCode::kConflict,
              fmt::format("inode {}: its record kept changing under a trim", ino.value()));
}

// Removes the watermark from memory if the record has none any more. False: the cache has no
// record, look again. No new watermark is lost: a truncate sets its own in memory only after the
// record has it.
Result<bool> MapSweeper::forget_watermark(Ino ino) {
  const FilePtr f = table_.find(ino);
  if (!f) return true;
  std::string chunk_key;
  {
    const MutexLock lock(f->mutex);
    if (!f->loaded || !f->record.trim_block) return true;
    chunk_key = keys::map_chunk(context_.options.fs, ino, f->record.map_generation,
                                *f->record.trim_block / kChunkBlocks);
  }
  const std::vector<std::string> both{context_.inode_key(ino), chunk_key};
  SYMNAS_TRY(context_.session.read(both));
  const MutexLock lock(f->mutex);
  if (!f->record.trim_block) return true;
  const std::uint64_t chunk = *f->record.trim_block / kChunkBlocks;
  if (keys::map_chunk(context_.options.fs, ino, f->record.map_generation, chunk) != chunk_key)
    return false;
  const auto record = context_.session.peek(context_.inode_key(ino));
  const auto boundary = context_.session.peek(chunk_key);
  if (!record || !boundary) return false;
  records::Inode inode;
  if (!record->value || !inode.ParseFromString(*record->value)) return true;
  const bool same_map = f->record.map_generation.value() == inode.map_generation();
  if (!same_map || inode.has_trim_block()) return true;
  // No operation changes that chunk while the watermark is in memory: this is what the sweep has
  // left.
  f->map.swept(chunk, boundary->value ? boundary->mod_revision : Revision{0});
  f->record.trim_block.reset();
  return true;
}

void MapSweeper::sweep_in_background(Ino ino, records::Orphan orphan, int attempt) {
  if (attempt == 0) sweeps_.fetch_add(1);
  const std::int64_t at_ns = context_.clock.mono_ns() + (attempt == 0 ? 0 : kSweepRetryNs);
  context_.background->post_at(at_ns, [this, ino, orphan = std::move(orphan), attempt] {
    const Status swept = sweep_orphan(ino, orphan);
    if (!swept && !context_.closing && attempt < kSweepRetriesMax) {
      if (attempt % (kFailureLogNs / kSweepRetryNs) == 0)
        log::warn("inode {}: dead map not swept yet: {}", ino.value(), swept.error().message);
      sweep_in_background(ino, orphan, attempt + 1);
      return;
    }
    sweeps_.fetch_sub(1);  // the next mount does what is left
  });
}

Task<Status> MapSweeper::wait_for_trim(FileState& f, std::uint64_t end) {
  for (int round = 0; round < kConflictRetriesMax; ++round) {
    {
      const MutexLock lock(f.mutex);
      if (!f.record.trim_block || end <= *f.record.trim_block / kChunkBlocks * kMapChunkBytes)
        co_return Status{};
    }
    Awaited<Status> answer;
    context_.background->post([this, ino = f.ino, &answer] { answer.deliver(finish_trim(ino)); });
    const Status trimmed = co_await answer;
    if (!trimmed) co_return trimmed;
    const auto record = context_.session.peek(context_.inode_key(f.ino));
    if (record && !record->value)
      co_return fail(ErrorCode::kStale, fmt::format("inode {}: its record is gone", f.ino.value()));
  }
  // The record is of another map than the one in memory. Without a token that passes; with one,
  // somebody has changed the record without a token.
  if (log_is_due(context_, f))
    log::warn("inode {}: its watermark does not go; if that lasts, run symnas fs check",
              f.ino.value());
  co_return fail(ErrorCode::kConflict, "the sweep of the file's watermark does not end");
}

}  // namespace symnas::fs
