// SpaceChanger: ALLOCATE (allocate.cc) and DEALLOCATE (deallocate.cc).
//
// Thread class: thread-safe; both block. Takes FileState::mutex, and under it only Space.
// Invariants: the file is entered exclusively and owned, the write flag is set and nothing is
// pending; so INV-5 and INV-6 hold as for a WRITE and a size change.
#pragma once

#include <cstdint>

#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_committer.h"
#include "fsal_cluster/data/file_flags.h"
#include "fsal_cluster/data/file_loader.h"
#include "fsal_cluster/data/file_table.h"
#include "fsal_cluster/data/file_tokens.h"
#include "fsal_cluster/data/file_writer.h"
#include "fsal_cluster/data/map_sweeper.h"
#include "fsal_cluster/data/quota_gate.h"

namespace symnas::fs {

class SpaceChanger {
 public:
  SpaceChanger(DataContext& context, FileTable& table, MapSweeper& sweeper, FileLoader& loader,
               FileFlags& flags, FileCommitter& committer, FileTokens& tokens, FileWriter& writer,
               QuotaGate& quota)
      : context_(context),
        table_(table),
        sweeper_(sweeper),
        loader_(loader),
        flags_(flags),
        committer_(committer),
        tokens_(tokens),
        writer_(writer),
        quota_(quota) {}

  // As the functions of FileData of the same names.
  Status allocate(const Handle& handle, FileOffset offset, std::uint64_t bytes);
  Status deallocate(const Handle& handle, FileOffset offset, std::uint64_t bytes);

 private:
  // Runs `change` with the bytes [offset, offset + bytes) of a file that it has to itself, the
  // write flag set and nothing pending.
  using SpaceChange = Task<Status> (SpaceChanger::*)(FileState& f, QuotaAsking& quota,
                                                     std::uint64_t offset, std::uint64_t end);
  Status change_space(const Handle& handle, std::uint64_t offset, std::uint64_t bytes,
                      SpaceChange change);
  Task<Status> change_space_task(Handle handle, std::uint64_t offset, std::uint64_t end,
                                 SpaceChange change);
  Task<Status> allocate_owned(FileState& f, QuotaAsking& quota, std::uint64_t offset,
                              std::uint64_t end);
  // Reserves what is missing of the blocks [first, last) in memory; answers how far it has come:
  // not at all if a look is due.
  Task<Result<std::uint64_t>> reserve_blocks(FileState& f, QuotaAsking& quota, std::uint64_t first,
                                             std::uint64_t last);
  // kNoSpace when more blocks behind the end of the file are wanted than the volume has free.
  Task<Status> expect_room(FileState& f, std::uint64_t first, std::uint64_t last);
  Task<Status> deallocate_owned(FileState& f, QuotaAsking& quota, std::uint64_t offset,
                                std::uint64_t end);
  Task<Status> punch_blocks(FileState& f, std::uint64_t first, std::uint64_t last);
  Task<Status> commit_punch(FileState& f, const FileMap::Cut& cut);

  DataContext& context_;
  FileTable& table_;
  MapSweeper& sweeper_;
  FileLoader& loader_;
  FileFlags& flags_;
  FileCommitter& committer_;
  FileTokens& tokens_;
  FileWriter& writer_;
  QuotaGate& quota_;
};

}  // namespace symnas::fs
