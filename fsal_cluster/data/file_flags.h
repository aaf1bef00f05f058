// FileFlags: the write flag in this mount's tokens, which says to everybody that contents may have
// changed. It is set before the first write of a file, or comes with the file's creation.
//
// Thread class: thread-safe. Takes FileState::mutex, and under it only AttentionList and
// Session::peek.
// Invariants: while FileState::writes.running counts a writer, the flag is set in the store and is
// not dropped. A token whose erase is not known to have failed is not relied on.
#pragma once

#include <cstdint>
#include <vector>

#include "fsal_cluster/data/attempt.h"
#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_table.h"

namespace symnas::fs {

class FileFlags {
 public:
  FileFlags(DataContext& context, FileTable& table) : context_(context), table_(table) {}

  // On success f.writes.running counts the caller, and no setuid or setgid bit is left to clear.
  // kAgain in `attempt`: the token went with the flag. REQUIRES: entered.
  Task<Status> obtain(FileState& f, Attempt& attempt);
  // As the functions of FileData of the same names.
  std::vector<kv::Op> tokens_at_create(Ino ino);
  void created(Ino ino);
  // Erases the tokens of files that were created before `before_ns` and never written: they carry
  // the write flag for nothing.
  void erase_unused_tokens(std::int64_t before_ns, const StatusCallback& done);

 private:
  // Puts the flag, and clears setuid and setgid.
  Task<Status> set_flag(FileState& f);
  // True when the cached record has no setuid or setgid bit; the record is parsed only if it has
  // changed since the last look. False: read the record.
  bool known_unprivileged(FileState& f);
  Task<Status> clear_privileges(FileState& f);
  Detached erase_tokens(std::vector<FilePtr> files, StatusCallback done);

  DataContext& context_;
  FileTable& table_;
};

// Waits until no transaction is dropping the flag.
Task<Woken> dropped_flag(FileState& f);
// The token's key is erased. What memory knows of the map stays true until another mount gets a
// token.
void token_gone(FileState& f) REQUIRES(f.mutex);
// begin_drop() is called before a transaction of the caller that erases the token, end_drop() after
// it. REQUIRES: entered exclusively. kNothing: the flag is clear; erase_unused_tokens() may begin a
// drop of its own meanwhile.
enum class Drop : std::uint8_t { kNothing, kBegun };
Task<Drop> begin_drop(FileState& f);
void end_drop(DataContext& context, FileState& f, Drop drop, const Result<kv::Committed>& outcome);

}  // namespace symnas::fs
