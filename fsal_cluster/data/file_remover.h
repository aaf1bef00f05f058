// FileRemover: the part of the data path in a removal (removal.cc): what the transaction that
// erases an inode record has to free, and what follows it.
//
// Thread class: thread-safe; plan_removal() blocks. Takes FileState::mutex, and under it only
// AttentionList.
// Invariants: from plan_removal() to removed() or abandoned() the file is entered exclusively and
// owned. Space that was recorded is freed by the transaction, or by the sweep of the orphan record
// that it puts (INV-6). What the reverse map gives to another file stays that file's.
#pragma once

#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_table.h"
#include "fsal_cluster/data/file_tokens.h"
#include "fsal_cluster/data/map_sweeper.h"
#include "fsal_cluster/data/reverse_frees.h"

namespace symnas::fs {

class FileRemover {
 public:
  FileRemover(DataContext& context, FileTable& table, MapSweeper& sweeper, FileTokens& tokens)
      : context_(context), table_(table), sweeper_(sweeper), tokens_(tokens) {}

  // As the functions of FileData of the same names.
  Result<FileData::Removal> plan_removal(const Handle& handle, const records::Inode& record);
  void removed(FileData::Removal removal);
  void abandoned(FileData::Removal removal);

 private:
  struct RemovalPlan;

  Task<Result<FileData::Removal>> plan_removal_task(Handle handle, const records::Inode& record,
                                                    const ReverseFrees& frees);

  DataContext& context_;
  FileTable& table_;
  MapSweeper& sweeper_;
  FileTokens& tokens_;
};

}  // namespace symnas::fs
