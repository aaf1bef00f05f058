// FileTokens: the tokens of this mount: getting one, giving it back when another mount wants it,
// and what a file under a foreign X shows (docs/architecture/several_mounts.md).
//
// Thread class: thread-safe. Takes FileState::mutex, and under it only TokenTable, AttentionList
// and Space; Looks::mutex is a leaf.
// Invariants: a token is put, and erased by whoever gives it back, with the I/O lock held
// exclusively; it goes only after everything that was acknowledged under it is recorded. A want of
// this mount is erased when its token is granted or the operation that asked is refused.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/thread_annotations.h"
#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_committer.h"
#include "fsal_cluster/data/file_flags.h"
#include "fsal_cluster/data/file_loader.h"
#include "fsal_cluster/data/file_table.h"

namespace symnas::fs {

// What a token is for. A token for writing brings the write flag.
enum class TokenUse : std::uint8_t { kRead, kWrite };

class FileTokens {
 public:
  FileTokens(DataContext& context, FileTable& table, FileLoader& loader, FileCommitter& committer)
      : context_(context), table_(table), loader_(loader), committer_(committer) {}

  // --- getting one
  // Gets a token of at least `needed`, however long the present holders take. The token may be gone
  // again on return. REQUIRES: not entered.
  Task<Status> obtain(FileState& f, TokenMode needed, TokenUse use);
  // As enter_exclusive(), with every right on the file; `stay` keeps that right.
  Task<Status> enter_owned(FileState& f, const Handle& handle,
                           std::optional<Membership::Stay>& stay);
  // One try, and only if no other mount has or wants a token: none is taken from another mount.
  Task<Woken> take_free_token(FileState& f, bool alone);

  // --- giving it back
  // Does what another mount wants of the file, until nobody wants anything.
  Detached answer_want(Ino ino);
  // Records everything and erases the token. REQUIRES: not entered.
  Detached return_token(FilePtr f, StatusCallback done);
  // `revision`: of the want, whoever put it.
  Task<Status> erase_want(Ino ino, Revision revision);

  // --- what other mounts have acknowledged
  Status publish_foreign(Ino ino);     // as FileData
  Task<Status> publish(FileState& f);  // the same for a coroutine
  std::optional<Overlay::ForeignWrites> foreign_writes(Ino ino);
  void turned_sole();  // as FileData

 private:
  // How often changes and times of other mounts were made up (Overlay::ForeignWrites).
  struct Looks {
    Mutex mutex;                            // leaf
    Revision applied GUARDED_BY(mutex);     // of the last look
    std::uint32_t n GUARDED_BY(mutex) = 0;  // under that revision
  };

  Task<Status> acquire(FileState& f, TokenMode needed, TokenUse use);
  Task<Result<std::optional<Revision>>> put_want(Ino ino, records::WantRecord::Kind kind);
  // Erases this mount's want, if there is one: the operation that asked was refused, and other
  // mounts wait until the want is gone.
  Detached withdraw_want(Ino ino);
  // False: another mount was faster.
  Task<Result<bool>> grant(FileState& f, const TokenSight& sight, TokenMode needed, TokenUse use);
  Task<Status> give_back(FileState& f);
  Task<Status> record_acknowledged(FileState& f);
  Detached publish_runner(FilePtr f);
  Task<Status> ask_to_publish(Ino ino);
  Task<Woken> changed(Ino ino, const TokenSight& seen);

  DataContext& context_;
  FileTable& table_;
  FileLoader& loader_;
  FileCommitter& committer_;
  Looks looks_;
};

}  // namespace symnas::fs
