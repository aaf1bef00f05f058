// FileCommitter: what a commit of a file's changes is: flush the volume, then map chunks, reverse
// map, size and times in one transaction, or in several when the map has changed a lot. The write
// flag, and the token with it, is dropped by the last one when it may.
//
// Thread class: thread-safe. Takes FileState::mutex, and under it only Space.
// Invariants: INV-5: a transaction is sent after the bytes that it makes visible are stable. One
// commit of a file runs at a time; requests that came before it began share its outcome.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_loader.h"
#include "fsal_cluster/data/file_table.h"

namespace symnas::fs {

class FileCommitter {
 public:
  FileCommitter(DataContext& context, FileTable& table, FileLoader& loader)
      : context_(context), table_(table), loader_(loader) {}

  // COMMIT.
  Detached commit_operation(Handle handle, StatusCallback done);
  // Commits what is written now, together with other callers that come meanwhile. REQUIRES:
  // entered.
  Task<Status> commit_file(FileState& f, DropFlag drop);
  // Commits until memory has nothing that the records do not have; the token stays. REQUIRES:
  // entered exclusively, and owned.
  Task<Status> commit_everything(FileState& f);
  // Enters the file, if it is still loaded, and commits it. An error is logged, too.
  Detached commit_idle(FilePtr f, DropFlag drop, StatusCallback done);

 private:
  struct CommitWork {
    std::vector<MapStep> steps;
    std::uint64_t size_bytes = 0;
    bool chunked = false;
    bool dirty = false;
    bool made_up = false;
    std::int64_t mtime_ns = 0;
    std::uint64_t writes_seen = 0;
    bool drop = false;
    bool flush = false;
    bool transaction = false;
  };

  Detached commit_runner(FilePtr f);
  Task<Status> commit_once(FileState& f, DropFlag drop, bool times);
  CommitWork begin_commit(FileState& f, DropFlag drop, bool times) REQUIRES(f.mutex);
  void end_commit(FileState& f, const CommitWork& work, const Status& outcome);
  Task<Status> commit_step(FileState& f, const CommitWork& work, std::size_t index);
  kv::Mutation step_mutation(FileState& f, const CommitWork& work, std::size_t index,
                             InodeRecord& record);

  DataContext& context_;
  FileTable& table_;
  FileLoader& loader_;
};

}  // namespace symnas::fs
