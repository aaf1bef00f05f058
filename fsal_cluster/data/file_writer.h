// FileWriter: WRITE (write.cc), and the steps of it that other changes of a file's bytes need.
//
// Thread class: thread-safe. Takes FileState::mutex, and under it only Space, AttentionList and
// Session::admit.
// Invariants: INV-5: a block becomes visible in one step, after its bytes and the zeros around them
// are on the volume; INV-6: every I/O is pinned. Writes of parts of a block, and first writes, have
// their blocks for themselves (RangeLock).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fsal_cluster/data/attempt.h"
#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_committer.h"
#include "fsal_cluster/data/file_flags.h"
#include "fsal_cluster/data/file_loader.h"
#include "fsal_cluster/data/file_table.h"
#include "fsal_cluster/data/file_tokens.h"
#include "fsal_cluster/data/io_pin.h"
#include "fsal_cluster/data/map_sweeper.h"
#include "fsal_cluster/data/quota_gate.h"

namespace symnas::fs {

class FileWriter {
 public:
  // One part of a WRITE on the volume.
  struct WritePart {
    bool fill = false;  // these blocks are written for the first time
    std::uint64_t volume_byte = 0;
    std::uint64_t begin = 0;  // bytes of the file
    std::uint64_t end = 0;
  };
  using WritePlan = std::vector<WritePart>;

  FileWriter(DataContext& context, FileTable& table, MapSweeper& sweeper, FileLoader& loader,
             FileFlags& flags, FileCommitter& committer, FileTokens& tokens, QuotaGate& quota)
      : context_(context),
        table_(table),
        sweeper_(sweeper),
        loader_(loader),
        flags_(flags),
        committer_(committer),
        tokens_(tokens),
        quota_(quota) {}

  // WRITE. Never blocks; `data` lives until the answer.
  Detached write_operation(Handle handle, std::uint64_t offset, std::span<const std::byte> data,
                           WriteStability wanted, WriteCallback done);

  // --- steps; REQUIRES for each: entered
  // Writes zeros from `size` to the end of its block. REQUIRES: `size` was the file's size when
  // that block was locked (exclusively, or by the I/O lock).
  Task<Status> zero_tail(FileState& f, std::uint64_t size);
  // Writes zeros, stable, over bytes of one block, unless they read as zeros without that.
  // REQUIRES: the block is locked.
  Task<Status> zero_bytes(FileState& f, std::uint64_t begin, std::uint64_t end);
  // Waits until there is space, or none to hope for (kNoSpace). REQUIRES: no pin is held.
  Task<Status> wait_for_room(FileState& f);
  // Makes the write visible: blocks, size, mtime and change in one step.
  Task<Status> finish_write(FileState& f, std::uint64_t end, WriteStability wanted,
                            const WritePlan& plan);
  void end_write(FileState& f);  // what FileFlags::obtain() has counted

 private:
  // What a WRITE must lock, up to its last block, as the file is now.
  struct WriteLock {
    RangeLock::Mode mode = RangeLock::Mode::kExclusive;
    std::uint64_t first_block = 0;
    std::optional<std::uint64_t> zero_from;  // the size, if the bytes behind it must be zeroed
  };

  Task<Status> write_entered(FileState& f, Attempt& attempt, std::uint64_t offset,
                             std::span<const std::byte> data, WriteStability wanted);
  Task<Status> write_flagged(FileState& f, Attempt& attempt, std::uint64_t offset,
                             std::span<const std::byte> data, WriteStability wanted);
  Task<Status> write_locked(FileState& f, Attempt& attempt, std::uint64_t offset,
                            std::span<const std::byte> data, WriteStability wanted,
                            std::optional<std::uint64_t> zero_from);
  WriteLock choose_lock(const FileState& f, std::uint64_t offset, std::uint64_t end) const
      REQUIRES(f.mutex);
  Task<Status> prepare_write(FileState& f, Attempt& attempt, std::uint64_t offset,
                             std::uint64_t end, WritePlan& plan, std::optional<IoPin>& pin);
  // Lists the parts of a write whose blocks all have a place, and begins to fill new ones.
  void list_parts(FileState& f, std::uint64_t offset, std::uint64_t end, WritePlan& plan)
      REQUIRES(f.mutex);
  Task<Status> submit_write(std::uint64_t offset, std::span<const std::byte> data,
                            WriteStability wanted, const WritePlan& plan);
  void abort_write(FileState& f, std::uint64_t end, const WritePlan& plan);
  Task<Status> after_write(FileState& f, WriteStability wanted);

  DataContext& context_;
  FileTable& table_;
  MapSweeper& sweeper_;
  FileLoader& loader_;
  FileFlags& flags_;
  FileCommitter& committer_;
  FileTokens& tokens_;
  QuotaGate& quota_;
};

}  // namespace symnas::fs
