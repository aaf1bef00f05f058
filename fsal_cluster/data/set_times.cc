// SETATTR of a file's mtime, with the file entered exclusively. Pending writes are committed before
// it, so that an unrecorded write is always a later one. The same transaction erases the token with
// the write flag, so that no recovery replaces the mtime.
#include <utility>

#include "fsal_cluster/data/data_path.h"
#include "fsal_cluster/schema/inode.h"

namespace symnas::fs {

Result<kv::Committed> DataPath::set_times(const Handle& handle,
                                          std::function<Status(records::Inode&)> inode,
                                          std::optional<kv::Op> also) {
  const RunningOperation running(running_);
  Edit edit{std::move(inode), std::move(also)};
  return wait_for(set_times_task(handle, edit));
}

Task<Result<kv::Committed>> DataPath::set_times_task(Handle handle, Edit& edit) {
  const FilePtr f = file(handle.ino);
  std::optional<Membership::Stay> stay;
  const Status entered = co_await enter_owned(*f, handle, stay);
  if (!entered) {
    forget_unused(f);
    co_return tl::unexpected(entered.error());
  }
  Result<kv::Committed> committed = co_await set_times_entered(*f, edit);
  leave_exclusive(*f);
  co_return committed;
}

Task<Result<kv::Committed>> DataPath::set_times_entered(FileState& f, Edit& edit) {
  const Status pending = co_await commit_everything(f);
  if (!pending) co_return tl::unexpected(pending.error());
  const Drop drop = co_await begin_drop(f);
  Result<kv::Committed> committed = co_await commit_times(f, edit);
  end_drop(f, drop, committed);
  co_return committed;
}

Task<Result<kv::Committed>> DataPath::commit_times(FileState& f, Edit& edit) {
  for (int round = 0;; ++round) {
    const Status pause = co_await pause_after_conflict(f, round);
    if (!pause) co_return tl::unexpected(pause.error());
    Result<InodeRecord> record = co_await read_inode(f);
    if (!record) co_return tl::unexpected(record.error());
    const Status edited = edit.inode(record->inode);
    if (!edited) co_return tl::unexpected(edited.error());
    kv::Mutation mutation;
    mutation.compares.push_back(kv::mod_revision_is(inode_key(f.ino), record->revision));
    mutation.writes.push_back(kv::put(inode_key(f.ino), changed_inode(record->inode)));
    mutation.writes.push_back(kv::erase(token_key(f.ino)));
    edit.add_to(mutation);
    const Result<kv::Committed> committed = co_await commit_mutation(mutation);
    if (!committed) co_return tl::unexpected(committed.error());
    if (!committed->succeeded) continue;
    const MutexLock lock(f.mutex);
    f.version = next_version_.fetch_add(1);
    co_return *committed;
  }
}

Task<DataPath::Drop> DataPath::begin_drop(FileState& f) {
  for (;;) {
    Turn turn;
    {
      const MutexLock lock(f.mutex);
      const WriteFlag::State state = f.flag.state();
      if (state == WriteFlag::State::kSet) f.flag.begin_drop();
      if (state == WriteFlag::State::kSet) co_return Drop::kBegun;
      if (state != WriteFlag::State::kDropping) co_return Drop::kNothing;
      f.flag_waiters.push_back(waiter_id(turn));  // erase_unused_tokens() is dropping it
    }
    co_await turn;
  }
}

void DataPath::end_drop(FileState& f, Drop drop, const Result<kv::Committed>& outcome) {
  std::vector<WaiterId> waiters;
  {
    const MutexLock lock(f.mutex);
    if (outcome) token_gone(f);
    if (drop == Drop::kNothing) return;  // a token for reading, or none
    f.flag.drop_done(outcome.has_value(), clock_.mono_ns());
    waiters.swap(f.flag_waiters);
  }
  wake(waiters);
}

}  // namespace symnas::fs
