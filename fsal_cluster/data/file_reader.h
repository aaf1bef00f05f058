// FileReader: READ (read.cc) and SEEK (seek.cc). Both answer from the map, with a token or without
// one.
//
// Thread class: thread-safe. Takes FileState::mutex, and nothing under it.
// Invariants: what is answered was true at one moment after the call; beside other mounts that
// takes a token or a barrier. A running READ pins its I/O (INV-6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "fsal_cluster/data/attempt.h"
#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_loader.h"
#include "fsal_cluster/data/file_table.h"
#include "fsal_cluster/data/file_tokens.h"

namespace symnas::fs {

class FileReader {
 public:
  FileReader(DataContext& context, FileTable& table, FileLoader& loader, FileTokens& tokens)
      : context_(context), table_(table), loader_(loader), tokens_(tokens) {}

  // READ. Never blocks.
  Detached read_operation(Handle handle, std::uint64_t offset, std::size_t bytes,
                          ReadCallback done);
  // As FileData::seek().
  Result<std::optional<Sought>> seek(const Handle& handle, FileOffset offset, Content content);

 private:
  struct ReadPlan;

  Task<Result<ReadResult>> read_entered(FileState& f, const Handle& handle, Attempt& attempt,
                                        std::uint64_t offset, std::size_t bytes);
  // Beside other mounts: makes size and map those of a moment after the call, unless a token keeps
  // them current.
  Task<Status> make_current(FileState& f, const Handle& handle, Attempt& attempt);
  Task<Status> locate(FileState& f, Attempt& attempt, ReadPlan& plan);
  // Counts a READ without a token; true when a token would be cheaper for the next one.
  bool reads_often(FileState& f);
  Task<Result<std::optional<Sought>>> seek_task(Handle handle, std::uint64_t offset,
                                                Content content);
  Task<Result<std::optional<Sought>>> seek_entered(FileState& f, const Handle& handle,
                                                   Attempt& attempt, std::uint64_t offset,
                                                   Content content);

  DataContext& context_;
  FileTable& table_;
  FileLoader& loader_;
  FileTokens& tokens_;
};

}  // namespace symnas::fs
