// SETATTR of a file's mtime, with the file entered exclusively. Pending writes are committed before
// it, so that an unrecorded write is always a later one. The same transaction erases the token with
// the write flag, so that no recovery replaces the mtime.
#include <utility>

#include "fsal_cluster/data/attribute_changer.h"
#include "fsal_cluster/data/wait_for.h"
#include "fsal_cluster/schema/inode.h"

namespace symnas::fs {

Result<kv::Committed> AttributeChanger::set_times(const Handle& handle,
                                                  std::function<Status(records::Inode&)> inode,
                                                  std::optional<kv::Op> also) {
  const RunningOperation running(context_.running);
  Edit edit{std::move(inode), std::move(also)};
  return wait_for(set_times_task(handle, edit));
}

Task<Result<kv::Committed>> AttributeChanger::set_times_task(Handle handle, Edit& edit) {
  const FilePtr f = table_.file(handle.ino);
  std::optional<Membership::Stay> stay;
  const Status entered = co_await tokens_.enter_owned(*f, handle, stay);
  if (!entered) {
    table_.forget_unused(f);
    co_return tl::unexpected(entered.error());
  }
  Result<kv::Committed> committed = co_await set_times_entered(*f, edit);
  leave_exclusive(*f);
  co_return committed;
}

Task<Result<kv::Committed>> AttributeChanger::set_times_entered(FileState& f, Edit& edit) {
  const Status pending = co_await committer_.commit_everything(f);
  if (!pending) co_return tl::unexpected(pending.error());
  const Drop drop = co_await begin_drop(f);
  Result<kv::Committed> committed = co_await commit_times(f, edit);
  end_drop(context_, f, drop, committed);
  co_return committed;
}

Task<Result<kv::Committed>> AttributeChanger::commit_times(FileState& f, Edit& edit) {
  for (int round = 0;; ++round) {
    const Status pause = co_await pause_after_conflict(context_, f, round);
    if (!pause) co_return tl::unexpected(pause.error());
    Result<InodeRecord> record = co_await read_inode(context_, f);
    if (!record) co_return tl::unexpected(record.error());
    const Status edited = edit.inode(record->inode);
    if (!edited) co_return tl::unexpected(edited.error());
    kv::Mutation mutation;
    mutation.compares.push_back(kv::mod_revision_is(context_.inode_key(f.ino), record->revision));
    mutation.writes.push_back(kv::put(context_.inode_key(f.ino), changed_inode(record->inode)));
    mutation.writes.push_back(kv::erase(context_.token_key(f.ino)));
    edit.add_to(mutation);
    const Result<kv::Committed> committed = co_await commit_mutation(context_, mutation);
    if (!committed) co_return tl::unexpected(committed.error());
    if (!committed->succeeded) continue;
    const MutexLock lock(f.mutex);
    f.version = table_.next_version();
    co_return *committed;
  }
}

}  // namespace symnas::fs
