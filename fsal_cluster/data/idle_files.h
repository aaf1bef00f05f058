// IdleFiles: what is done with files without a request: write flags are dropped, idle dirty files
// committed, reservations and unused tokens given back; and all of it at once when the mount
// closes.
//
// Thread class: thread-safe. tick() runs on a background thread; flush_all() blocks. Takes
// FileState::mutex, and under it only AttentionList and Space.
// Invariants: a file in the AttentionList stays there until memory holds nothing of it that must be
// recorded or given back.
#pragma once

#include <cstdint>
#include <vector>

#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_committer.h"
#include "fsal_cluster/data/file_flags.h"
#include "fsal_cluster/data/file_table.h"
#include "fsal_cluster/data/file_tokens.h"

namespace symnas::fs {

class IdleFiles {
 public:
  IdleFiles(DataContext& context, FileTable& table, FileFlags& flags, FileCommitter& committer,
            FileTokens& tokens)
      : context_(context), table_(table), flags_(flags), committer_(committer), tokens_(tokens) {}

  // Calls tick() every kTickNs from now on, until DataContext::closing.
  void arm_tick();
  void tick();
  // The volume is full: idle files give back what they have reserved. True when busy files still
  // hold some.
  bool return_reservations();
  // As FileData::flush_all().
  Status flush_all();

 private:
  void attend(const FilePtr& f, std::int64_t now_ns);
  // Files whose tokens memory knows of, and files that were created and not used.
  std::vector<FilePtr> files_with_tokens();

  DataContext& context_;
  FileTable& table_;
  FileFlags& flags_;
  FileCommitter& committer_;
  FileTokens& tokens_;
};

}  // namespace symnas::fs
