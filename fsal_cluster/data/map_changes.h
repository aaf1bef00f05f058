// What each transaction that changes a file's map has in common: the map chunks with their
// revisions, and the reverse map with what refuses a block with two owners.
#pragma once

#include <vector>

#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_map.h"

namespace symnas::fs {

// Adds the reverse-map keys, with the compares that refuse a block with two owners, or a block of a
// group that this mount does not own any more.
void add_reverse_changes(const DataContext& context, const std::vector<ReverseChange>& changes,
                         Ino ino, MapGeneration generation, kv::Mutation& mutation);
// To be called when a transaction with these changes has met conflicts again and again: is the
// reverse map in the way? kCorrupt: an extent that grows has no entry. kFenced, and the instance
// ends: blocks that this mount has given out are another file's by now; what was written there must
// be written again, elsewhere.
Task<Status> look_at_growth(DataContext& context, const std::vector<ReverseChange>& changes,
                            Ino ino);
// Adds the puts of the chunks, each compared with the revision that memory has of it.
void add_chunk_values(const DataContext& context, const std::vector<MapStep::ChunkValue>& chunks,
                      FileState& f, kv::Mutation& mutation) REQUIRES(f.mutex);

}  // namespace symnas::fs
