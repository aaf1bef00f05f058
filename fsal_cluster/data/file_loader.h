// FileLoader: how an operation enters a file: it takes the I/O lock, and brings record and map into
// memory.
//
// Thread class: thread-safe. Takes FileState::mutex, and under it only AttentionList, Space and
// Session::peek.
// Invariants: a map in memory is of one moment with FileState::record, and of the life that
// FileState::life says; whoever has waited compares the life. Chunks below the watermark of a trim
// are loaded only after the sweep has left them (MapSweeper).
#pragma once

#include <cstdint>
#include <vector>

#include "fsal_cluster/data/attempt.h"
#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_table.h"
#include "fsal_cluster/data/map_sweeper.h"

namespace symnas::fs {

class FileLoader {
 public:
  FileLoader(DataContext& context, FileTable& table, MapSweeper& sweeper)
      : context_(context), table_(table), sweeper_(sweeper) {}

  // Takes the I/O lock and loads the file. On error nothing is held. Errors: kStale, kBadHandle,
  // kIsDirectory, kInvalidArgument (no regular file), kCorrupt, those of the session.
  Task<Status> enter_shared(FileState& f, const Handle& handle, Turn& turn);
  Task<Status> enter_exclusive(FileState& f, const Handle& handle, Turn& turn);
  // As the second half of those two. REQUIRES: the I/O lock is held.
  Task<Status> load(FileState& f, const Handle& handle);
  // REQUIRES: nothing of the map is uncommitted.
  void forget_map(FileState& f) REQUIRES(f.mutex);
  // Brings the chunks of [first_block, end_block) into the map. `tokenless`: a READ that may have
  // no token. For such a READ chunks enter only if they are of the same moment as the record; else
  // the READ must begin again (Go::kAgain). REQUIRES: entered.
  Task<Status> load_chunks(FileState& f, std::uint64_t first_block, std::uint64_t end_block,
                           Attempt* tokenless = nullptr);
  // The first block of [block, end) whose chunk has blocks and is in memory, and that is mapped;
  // `end` if none. `tokenless` as for load_chunks().
  Task<Result<std::uint64_t>> next_mapped(FileState& f, std::uint64_t block, std::uint64_t end,
                                          Attempt* tokenless);

 private:
  // Chunks that are being loaded, and the FileState::life of the map that they belong to.
  struct ChunkLoad {
    std::uint64_t life = 0;
    std::vector<std::uint64_t> wanted;
    std::vector<kv::CachedValue> values;
  };

  // `values`: the record and the own token, as they were read while FileState::life was `life`.
  Status adopt_record(FileState& f, const Handle& handle, std::uint64_t life,
                      const std::vector<kv::CachedValue>& values) REQUIRES(f.mutex);
  Task<Status> read_chunks(FileState& f, std::uint64_t first_block, std::uint64_t end_block,
                           ChunkLoad& load);
  Status take_chunks(FileState& f, const ChunkLoad& load) REQUIRES(f.mutex);

  DataContext& context_;
  FileTable& table_;
  MapSweeper& sweeper_;
};

// Give the I/O lock back and wake whoever has it then.
void leave_shared(FileState& f);
void leave_exclusive(FileState& f);

}  // namespace symnas::fs
