// FilesInUse: files in use when a mount closes, and what its successor fetches of them before a
// request comes: clients that have waited for a move do not wait for the first read of each file's
// records as well.
//
// Thread class: thread-safe; never blocks. Takes FileState::mutex, and nothing under it.
// Invariants: nothing is taken from another mount, and no times change.
#pragma once

#include <vector>

#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_loader.h"
#include "fsal_cluster/data/file_table.h"
#include "fsal_cluster/data/file_tokens.h"

namespace symnas::fs {

class FilesInUse {
 public:
  FilesInUse(DataContext& context, FileTable& table, FileLoader& loader, FileTokens& tokens)
      : context_(context), table_(table), loader_(loader), tokens_(tokens) {}

  // As the functions of FileData of the same names.
  std::vector<records::FileInUse> files_in_use();
  void fetch(const std::vector<records::FileInUse>& files);

 private:
  Detached fetch_file(records::FileInUse file);

  DataContext& context_;
  FileTable& table_;
  FileLoader& loader_;
  FileTokens& tokens_;
};

}  // namespace symnas::fs
