// FileMap: where the blocks of one file are on the volume. One map holds the recorded blocks and
// those that are not recorded yet.
//
// An extent is a run of the file on a run of the volume. A prefix of it is recorded (it has a
// reverse-map key and an Extent in the map record); the rest is reserved for growth, in memory
// only. Each block is
//   unwritten  nothing on the LUN yet: reads as zeros;
//   filling    being written for the first time: reads as zeros;
//   written    its bytes, zero fill included, have been accepted by the LUN;
//   committed  written, and the record says so.
// Thread class: thread-compatible (the file's mutex guards it). Pure.
// Invariants: extents of a chunk are ascending and disjoint, in the file and on the volume; an
// extent stays within one chunk and one allocation group; committed blocks are recorded and
// written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "fsal_cluster/data/block_bits.h"
#include "fsal_cluster/data/limits.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/space/free_map.h"

namespace symnas::fs {

struct MapExtent {
  std::uint32_t first = 0;  // block within the chunk
  std::uint32_t blocks = 0;
  std::uint64_t volume_block = 0;
  std::uint32_t recorded = 0;  // blocks of the prefix in the records
  bool whole = false;      // recorded as a whole (sparse unit), not only as far as it is written
  bool allocated = false;  // whole, and the next commit records it although nothing was written
  BlockBits written;
  BlockBits committed;
  BlockBits filling;
  std::uint32_t end() const { return first + blocks; }
  std::uint64_t volume_end() const { return volume_block + blocks; }
};

struct MapChunkState {
  std::vector<MapExtent> extents;
  Revision revision;   // of its key; 0 = no key
  bool dirty = false;  // has a change to record
};

// A change of one reverse-map key.
struct ReverseChange {
  std::uint64_t volume_block = 0;
  std::uint64_t file_block = 0;
  std::uint32_t old_blocks = 0;  // 0 = new
  std::uint32_t new_blocks = 0;  // 0 = erase
};

// The change of a map that one transaction records.
struct MapStep {
  struct ChunkValue {
    std::uint64_t chunk = 0;
    records::MapChunk value;
  };
  struct Mark {  // what memory learns when the step is committed
    std::uint64_t chunk = 0;
    std::uint64_t volume_block = 0;
    std::uint32_t recorded = 0;
    BlockBits committed;
  };
  std::vector<ChunkValue> chunks;  // ascending
  std::vector<ReverseChange> reverse;
  std::vector<Mark> marks;
  std::int64_t used_blocks_delta = 0;
  std::uint64_t covered_blocks =
      0;  // file blocks below it are recorded by this and the earlier steps
};

class FileMap {
 public:
  enum class State : std::uint8_t { kHole, kUnwritten, kWritten };
  struct Piece {
    State state = State::kHole;
    std::uint64_t file_block = 0;
    std::uint64_t volume_block = 0;  // not for holes
    std::uint64_t blocks = 0;
  };

  explicit FileMap(std::uint64_t group_blocks) : group_blocks_(group_blocks) {}

  // --- load from records. Errors: kCorrupt (names what is wrong).
  // A file whose map is in its inode record (or that has none).
  Status load_inline(const records::Inode& inode);
  // A file whose map is in chunk keys; chunks from `chunks` on have no key.
  void load_chunked(std::uint64_t chunks);
  // Has no effect when the chunk is known already.
  Status load_chunk(std::uint64_t chunk, const records::MapChunk& value, Revision revision);
  // mod_revision of the chunk's key; 0 = absent.
  Revision revision(std::uint64_t chunk) const {
    const auto it = chunks_.find(chunk);
    return it == chunks_.end() ? Revision{0} : it->second.revision;
  }
  bool loaded(std::uint64_t chunk) const {
    return chunk >= absent_from_ || chunks_.contains(chunk);
  }

  // The longest piece of one state that begins at `block` and ends at or before `end`. REQUIRES:
  // block < end, chunk loaded.
  Piece find(std::uint64_t block, std::uint64_t end) const;
  // First block of [block, end) that is mapped; `end` if none.
  std::uint64_t next_mapped(std::uint64_t block, std::uint64_t end) const;

  // --- growth in memory
  // Maps `run` at `file_block`, as unwritten. REQUIRES: all of these file blocks are a hole.
  void add(std::uint64_t file_block, BlockRun run, bool whole);
  // As add() of a whole run; the next commit records it, written or not (ALLOCATE). REQUIRES:
  // nothing is reserved but by this function.
  void allocate(std::uint64_t file_block, BlockRun run);
  // Blocks that are written already stay as they are. REQUIRES: mapped.
  void begin_fill(std::uint64_t block, std::uint64_t end);
  enum class Filled : std::uint8_t { kYes, kNo };
  void end_fill(std::uint64_t block, std::uint64_t end, Filled filled);

  // How many blocks the next commit will record when [block, end) is written, beyond those that it
  // records anyway. Never too few; too many if it leaves out a gap of whole units. REQUIRES: all of
  // it is mapped.
  std::uint64_t growth_of(std::uint64_t block, std::uint64_t end) const;

  // --- commit
  bool dirty() const;
  // Takes everything that is written now, in transactions of bounded size, ascending.
  // First::kAlways also rewrites chunk 0 (an inline map moves to its key). Until the steps are
  // committed or dropped, only add, begin_fill and end_fill may follow.
  enum class First : std::uint8_t { kIfDirty, kAlways };
  std::vector<MapStep> plan_commit(First first);
  // `revision`: of the chunk keys that the step has put; 0 when the map was put inline.
  void committed(const MapStep& step, Revision revision);

  // --- shrinking. REQUIRES: idle(): nothing is filling, everything written is committed.
  bool idle() const;
  // Blocks that no record knows: reserved, or written and not committed. REQUIRES: nothing is
  // filling.
  std::vector<BlockRun> unrecorded() const;
  // Forgets blocks that are only reserved, and returns them.
  std::vector<BlockRun> drop_reservations();
  struct Cut {
    std::vector<MapStep::ChunkValue> chunks;  // a value without extents: erase the key
    std::vector<ReverseChange> reverse;
    std::uint64_t upto = 0;  // plan_punch(): file blocks below it are done
    std::vector<BlockRun> freed;
    std::int64_t used_blocks_delta = 0;
    std::size_t changes() const { return chunks.size() + reverse.size(); }
  };
  // What a cut of all blocks >= `block` changes in the chunks up to last_chunk. REQUIRES: these
  // chunks are loaded, and nothing is reserved.
  Cut plan_cut(std::uint64_t block, std::uint64_t last_chunk) const;
  // Forgets blocks >= `block`; from now on the chunks behind its own have no keys. `revision`: of
  // the keys that `plan` has put (0 = inline).
  void cut(std::uint64_t block, const Cut& plan, Revision revision);
  // What freeing the blocks [block, end) changes, as far as about `changes_max` changes go.
  // REQUIRES: the chunks are loaded, and nothing is reserved.
  Cut plan_punch(std::uint64_t block, std::uint64_t end, std::size_t changes_max) const;
  // Takes over what `plan` has put. `revision` as for cut(). REQUIRES: the map is as when planned.
  void punch(const Cut& plan, Revision revision);
  // Another operation has put the chunk's key as it is in this map. `revision` as for cut().
  void swept(std::uint64_t chunk, Revision revision);
  void clear();

  // --- counts
  std::size_t extents_of_first_chunk() const;
  std::uint64_t unrecorded_written_blocks() const { return unrecorded_written_; }
  // First chunk from `chunk` on that is in memory; UINT64_MAX if none.
  std::uint64_t next_in_memory(std::uint64_t chunk) const;
  std::uint64_t reserved_blocks() const;

 private:
  Status parse(MapChunkState& chunk, const google::protobuf::RepeatedPtrField<records::Extent>& in,
               const std::string& what) const;
  const MapExtent* extent_at(std::uint64_t block) const;
  template <class Visit>
  void for_each_part(std::uint64_t block, std::uint64_t end, Visit visit);
  static void split_untouched_units(MapChunkState& chunk);
  void plan_chunk(std::uint64_t index, MapChunkState& chunk, std::vector<MapStep>& steps);

  std::uint64_t group_blocks_;
  std::map<std::uint64_t, MapChunkState> chunks_;
  std::uint64_t absent_from_ = 0;  // chunks from here on that are not in chunks_ are empty
  std::uint64_t unrecorded_written_ = 0;
  std::uint64_t unrecorded_allocated_ = 0;
};

}  // namespace symnas::fs
