// MountRecovery: recovers what an ended mount has left (recover.cc): tokens with the write flag
// (contents may have changed, so change must change), wants, and groups of space.
//
// Thread class: thread-safe; blocks. Takes no lock.
// Invariants: what the ended mount has written is stable before an inode says that it has changed;
// a token goes in the transaction that gives its inode new times.
#pragma once

#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_tokens.h"

namespace symnas::fs {

class MountRecovery {
 public:
  MountRecovery(DataContext& context, FileTokens& tokens) : context_(context), tokens_(tokens) {}

  // As FileData::recover_ended_mount().
  Status recover_ended_mount(MountId ended);

 private:
  Status flush_volume();
  Status erase_wants(MountId ended);
  Detached bump_operation(Ino ino, Revision token_revision, MountId owner, StatusCallback done);
  Task<Status> bump(Ino ino, Revision token_revision, MountId owner);

  DataContext& context_;
  FileTokens& tokens_;
};

}  // namespace symnas::fs
