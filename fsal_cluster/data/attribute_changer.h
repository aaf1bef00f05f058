// AttributeChanger: SETATTR of a regular file's size (set_size.cc) and mtime (set_times.cc), with
// whatever else the caller changes of the record, in one transaction.
//
// Thread class: thread-safe; both block. Takes FileState::mutex, and under it only Space.
// Invariants: INV-2; the file is entered exclusively and owned, and everything pending is committed
// before, so that an unrecorded write is always a later one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_committer.h"
#include "fsal_cluster/data/file_loader.h"
#include "fsal_cluster/data/file_table.h"
#include "fsal_cluster/data/file_tokens.h"
#include "fsal_cluster/data/file_writer.h"
#include "fsal_cluster/data/map_sweeper.h"

namespace symnas::fs {

class AttributeChanger {
 public:
  AttributeChanger(DataContext& context, FileTable& table, MapSweeper& sweeper, FileLoader& loader,
                   FileCommitter& committer, FileTokens& tokens, FileWriter& writer)
      : context_(context),
        table_(table),
        sweeper_(sweeper),
        loader_(loader),
        committer_(committer),
        tokens_(tokens),
        writer_(writer) {}

  // As the functions of FileData of the same names.
  Result<kv::Committed> set_size(const Handle& handle, std::uint64_t size_bytes, MtimeIs mtime,
                                 std::function<Status(records::Inode&)> inode,
                                 std::optional<kv::Op> also);
  Result<kv::Committed> set_times(const Handle& handle,
                                  std::function<Status(records::Inode&)> inode,
                                  std::optional<kv::Op> also);

 private:
  struct Edit {
    std::function<Status(records::Inode&)> inode;
    std::optional<kv::Op> also;
    void add_to(kv::Mutation& mutation) const {
      if (also) mutation.writes.push_back(*also);
    }
  };
  struct SizeChange;

  Task<Result<kv::Committed>> set_size_task(Handle handle, std::uint64_t size_bytes, MtimeIs mtime,
                                            Edit& edit);
  Task<Result<kv::Committed>> set_size_entered(FileState& f, std::uint64_t size_bytes,
                                               MtimeIs mtime, Edit& edit);
  Task<Status> plan_shrink(FileState& f, SizeChange& change);
  Task<Result<kv::Committed>> commit_size(FileState& f, SizeChange& change, Edit& edit);
  kv::Mutation size_mutation(FileState& f, const SizeChange& change, InodeRecord& record);
  void apply_size(FileState& f, const SizeChange& change, const kv::Committed& committed);
  Task<Result<kv::Committed>> set_times_task(Handle handle, Edit& edit);
  Task<Result<kv::Committed>> set_times_entered(FileState& f, Edit& edit);
  Task<Result<kv::Committed>> commit_times(FileState& f, Edit& edit);

  DataContext& context_;
  FileTable& table_;
  MapSweeper& sweeper_;
  FileLoader& loader_;
  FileCommitter& committer_;
  FileTokens& tokens_;
  FileWriter& writer_;
};

}  // namespace symnas::fs
