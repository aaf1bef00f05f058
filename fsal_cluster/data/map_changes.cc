#include "fsal_cluster/data/map_changes.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/check.h"

namespace symnas::fs {
namespace {

// Whether the groups are this mount's still: else its instance ends. Blocks.
Status look_at_groups(DataContext& context, const std::vector<ReverseChange>& changes) {
  std::set<std::uint64_t> groups;
  for (const ReverseChange& change : changes) {
    if (change.new_blocks <= change.old_blocks) continue;
    if (!groups.insert(change.volume_block / context.options.group_blocks).second) continue;
    SYMNAS_TRY(context.space->look_at_owner(change.volume_block));
  }
  return {};
}

// Blocks.
Status compare_growth(DataContext& context, const std::vector<ReverseChange>& changes, Ino ino) {
  for (const ReverseChange& change : changes) {
    if (change.new_blocks <= change.old_blocks) continue;
    if (change.old_blocks > 0) {
      const std::string key = context.space->reverse_key(change.volume_block);
      SYMNAS_ASSIGN(const kv::OpResult own, context.session.range(kv::single_key(key), 1));
      if (own.kvs.empty())
        return fail(
            ErrorCode::kCorrupt,
            fmt::format("inode {}: volume block {} of it has no entry in the reverse map, so "
                        "the file cannot grow; run symnas fs check --repair",
                        ino.value(), change.volume_block));
    }
    const kv::KeyRange grown = context.space->reverse_range(
        change.volume_block + change.old_blocks, change.volume_block + change.new_blocks);
    SYMNAS_ASSIGN(const kv::OpResult there, context.session.range(grown, 1));
    if (there.kvs.empty()) continue;
    return fail(
        ErrorCode::kFenced,
        fmt::format(
            "inode {}: the reverse map gives blocks from volume block {} on, which were free "
            "when this mount gave them to it, to another file: this instance ends, what was "
            "written there is written again; run symnas fs check",
            ino.value(), change.volume_block + change.old_blocks));
  }
  return {};
}

}  // namespace

Task<Status> look_at_growth(DataContext& context, const std::vector<ReverseChange>& changes,
                            Ino ino) {
  Awaited<Status> answer;
  context.background->post([&context, &changes, ino, &answer] {
    Status looked = look_at_groups(context, changes);
    if (looked) looked = compare_growth(context, changes, ino);
    answer.deliver(std::move(looked));
  });
  Status looked = co_await answer;
  if (!looked && looked.error().code == ErrorCode::kFenced) context.failed_for_good(looked.error());
  co_return looked;
}

void add_reverse_changes(const DataContext& context, const std::vector<ReverseChange>& changes,
                         Ino ino, MapGeneration generation, kv::Mutation& mutation) {
  std::vector<std::uint64_t> guarded;
  for (const ReverseChange& change : changes) {
    const std::string key = context.space->reverse_key(change.volume_block);
    if (change.new_blocks == 0) {
      mutation.writes.push_back(kv::erase(key));
      continue;
    }
    records::ReverseMap value;
    value.set_ino(ino.value());
    value.set_map_generation(generation.value());
    value.set_file_block(change.file_block);
    value.set_blocks(change.new_blocks);
    mutation.writes.push_back(kv::put(key, value.SerializeAsString()));
    if (change.new_blocks <= change.old_blocks) continue;
    if (change.old_blocks > 0) mutation.compares.push_back(kv::key_exists(key));
    mutation.compares.push_back(kv::range_absent(context.space->reverse_range(
        change.volume_block + change.old_blocks, change.volume_block + change.new_blocks)));
    const std::uint64_t group = change.volume_block / context.options.group_blocks;
    if (std::find(guarded.begin(), guarded.end(), group) != guarded.end()) continue;
    guarded.push_back(group);
    const auto guard = context.space->guard(change.volume_block);
    CHECK(guard.has_value(), "growth in a group that is not ours");
    mutation.compares.push_back(*guard);
  }
}

void add_chunk_values(const DataContext& context, const std::vector<MapStep::ChunkValue>& chunks,
                      FileState& f, kv::Mutation& mutation) {
  for (const MapStep::ChunkValue& chunk : chunks) {
    const std::string key =
        kv::keys::map_chunk(context.options.fs, f.ino, f.record.map_generation, chunk.chunk);
    mutation.compares.push_back(kv::mod_revision_is(key, f.map.revision(chunk.chunk)));
    mutation.writes.push_back(chunk.value.extents_size() == 0
                                  ? kv::erase(key)
                                  : kv::put(key, chunk.value.SerializeAsString()));
  }
}

}  // namespace symnas::fs
