#include "fsal_cluster/data/map_changes.h"

#include <algorithm>

#include "common/base/check.h"

namespace symnas::fs {

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
