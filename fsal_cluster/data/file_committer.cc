#include "fsal_cluster/data/file_committer.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/log.h"
#include "fsal_cluster/data/file_flags.h"
#include "fsal_cluster/data/map_changes.h"
#include "fsal_cluster/data/quota_gate.h"
#include "fsal_cluster/schema/inode.h"

namespace symnas::fs {

Detached FileCommitter::commit_operation(Handle handle, StatusCallback done) {
  const RunningOperation running(context_.running);
  const FilePtr f = table_.file(handle.ino);
  Turn turn;
  Status status = co_await loader_.enter_shared(*f, handle, turn);
  if (!status) {
    table_.forget_unused(f);
    done(std::move(status));
    co_return;
  }
  status = co_await commit_file(*f, DropFlag::kMay);
  leave_shared(*f);
  if (!status && status.error().code == ErrorCode::kFenced)
    context_.failed_for_good(status.error());
  done(std::move(status));
}

Task<Status> FileCommitter::commit_file(FileState& f, DropFlag drop) {
  Awaited<Status> answer;
  bool start = false;
  {
    const MutexLock lock(f.mutex);
    f.commits.requests.push_back({++f.commits.requested, &answer});
    if (drop != DropFlag::kMay) f.commits.drop = drop;
    start = !f.commits.running;
    f.commits.running = true;
  }
  if (start) commit_runner(f.shared_from_this());
  Status status = co_await answer;
  co_return status;
}

Task<Status> FileCommitter::commit_everything(FileState& f) {
  // A drop by erase_unused_tokens() may be under way: a token whose erase is refused is held again.
  co_await dropped_flag(f);
  TokenMode had = TokenMode::kNone;  // a file entered by a sole mount may have no token
  {
    const MutexLock lock(f.mutex);
    had = f.token.mode;
    f.commits.times = f.commits.times || f.unrecorded.dirty || f.unrecorded.made_up;
  }
  Status status = co_await commit_file(f, DropFlag::kMustNot);
  const MutexLock lock(f.mutex);
  CHECK(f.token.mode == had, "a change of the whole file has lost its token");
  co_return status;
}

Detached FileCommitter::commit_idle(FilePtr f, DropFlag drop, StatusCallback done) {
  const RunningOperation running(context_.running);
  bool gone = false;
  bool held = false;
  Turn turn;
  {
    const MutexLock lock(f->mutex);
    gone = f->removed || !f->loaded;
    if (!gone) held = f->io_lock.acquire_shared(waiter_id(turn));
  }
  Status status;
  if (!gone) {
    if (!held) co_await turn;
    {
      const MutexLock lock(f->mutex);
      gone = f->removed || !f->loaded;  // given back, or granted and not loaded yet
    }
    if (!gone) status = co_await commit_file(*f, drop);
    leave_shared(*f);
  }
  if (!status && log_is_due(context_, *f))
    log::warn("idle inode {} not committed: {}", f->ino.value(), status.error().message);
  if (done) done(std::move(status));
}

// Serves commit requests until there is none. Each requester keeps the file entered until it has
// its answer.
Detached FileCommitter::commit_runner(FilePtr f) {
  const RunningOperation running(context_.running);
  for (;;) {
    std::uint64_t number = 0;
    DropFlag drop = DropFlag::kMay;
    bool times = false;
    {
      const MutexLock lock(f->mutex);
      number = f->commits.requested;
      drop = std::exchange(f->commits.drop, DropFlag::kMay);
      times = std::exchange(f->commits.times, false);
    }
    const Status status = co_await commit_once(*f, drop, times);
    std::vector<Awaited<Status>*> served;
    bool more = false;
    {
      const MutexLock lock(f->mutex);
      if (times) f->commits.renumbering = false;
      std::erase_if(f->commits.requests, [&](const FileState::Commits::Request& request) {
        if (request.number > number) return false;
        served.push_back(request.answer);
        return true;
      });
      more = !f->commits.requests.empty();
      f->commits.running = more;
    }
    for (Awaited<Status>* answer : served) answer->deliver(status);
    if (!more) co_return;
  }
}

FileCommitter::CommitWork FileCommitter::begin_commit(FileState& f, DropFlag drop, bool times) {
  CommitWork work;
  const bool growth = f.has_growth();
  work.drop = f.writes.running == 0 && f.flag.state() == WriteFlag::State::kSet &&
              drop != DropFlag::kMustNot &&
              (drop == DropFlag::kMust || (growth && f.flag.may_drop_with_commit()));
  work.made_up = f.unrecorded.made_up;
  work.transaction = growth || work.drop || (times && (f.unrecorded.dirty || f.unrecorded.made_up));
  work.flush = std::exchange(f.writes.unflushed, false);
  work.size_bytes = f.size();
  work.dirty = f.unrecorded.dirty;
  work.mtime_ns = f.unrecorded.mtime_ns;
  work.writes_seen = f.unrecorded.writes_seen;
  work.chunked = f.record.chunked;
  work.steps.resize(1);
  if (growth) {
    work.chunked = f.record.chunked || f.size() > kInlineBytesMax ||
                   f.map.extents_of_first_chunk() > kInlineExtentsMax;
    const bool moves = work.chunked && !f.record.chunked;
    work.steps = f.map.plan_commit(moves ? FileMap::First::kAlways : FileMap::First::kIfDirty);
  }
  if (work.drop) f.flag.begin_drop();
  return work;
}

Task<Status> FileCommitter::commit_once(FileState& f, DropFlag drop, bool times) {
  CommitWork work;
  {
    const MutexLock lock(f.mutex);
    work = begin_commit(f, drop, times);
  }
  Status status;
  if (work.flush) {
    Awaited<Status> answer;
    context_.volume->flush(answer.callback());
    status = co_await answer;
    if (!status) context_.failed_for_good(status.error());
  }
  if (work.transaction) {
    for (std::size_t i = 0; status && i < work.steps.size(); ++i) {
      status = co_await commit_step(f, work, i);
    }
  }
  end_commit(f, work, status);
  co_return status;
}

void FileCommitter::end_commit(FileState& f, const CommitWork& work, const Status& outcome) {
  std::vector<WaiterId> waiters;
  {
    const MutexLock lock(f.mutex);
    if (!outcome && work.flush) f.writes.unflushed = true;
    if (work.drop) {
      f.flag.drop_done(outcome.has_value(), context_.clock.mono_ns());
      if (outcome) token_gone(f);
      waiters.swap(f.flag_waiters);
    }
    uncharge_rest(f);
    if (outcome && f.writes.running == 0 && f.size() <= kInlineBytesMax)
      trim_reservations(context_, f);
  }
  wake(waiters);
}

Task<Status> FileCommitter::commit_step(FileState& f, const CommitWork& work, std::size_t index) {
  const bool last = index + 1 == work.steps.size();
  for (int round = 0;; ++round) {
    const Status pause = co_await pause_after_conflict(context_, f, round);
    if (!pause) co_return pause;
    if (round == kConflictRetriesBeforePause) {
      const Status looked = co_await look_at_growth(context_, work.steps[index].reverse, f.ino);
      if (!looked) co_return looked;
    }
    const Result<InodeRecord> record = co_await read_inode(context_, f);
    if (!record) co_return tl::unexpected(record.error());
    InodeRecord next = *record;
    kv::Mutation mutation = step_mutation(f, work, index, next);
    const Result<kv::Committed> committed = co_await commit_mutation(context_, mutation);
    if (!committed) co_return tl::unexpected(committed.error());
    if (!committed->succeeded) continue;
    const MutexLock lock(f.mutex);
    f.record.chunked = f.record.chunked || (work.chunked && next.inode.chunked());
    f.map.committed(work.steps[index], next.inode.chunked() ? committed->revision : Revision{0});
    for (const ReverseChange& change : work.steps[index].reverse) {
      if (change.new_blocks <= change.old_blocks) continue;
      context_.space->recorded(
          {change.volume_block + change.old_blocks, change.new_blocks - change.old_blocks});
    }
    uncharge(f, work.steps[index].used_blocks_delta);
    f.record.size_bytes = next.inode.size_bytes();
    f.version = table_.next_version();
    // While an S token has the flag, other mounts go on making up changes. A token that went with
    // the transaction has none: a commit that waits for this one must not put what is old by then.
    if (last && (work.drop || f.token.mode != TokenMode::kShared)) f.unrecorded.made_up = false;
    if (last && work.dirty && f.unrecorded.writes_seen == work.writes_seen)
      f.unrecorded.dirty = false;
    co_return Status{};
  }
}

// The transaction of one step. `record` becomes the record that it puts.
kv::Mutation FileCommitter::step_mutation(FileState& f, const CommitWork& work, std::size_t index,
                                          InodeRecord& record) {
  const MapStep& step = work.steps[index];
  const bool last = index + 1 == work.steps.size();
  records::Inode& inode = record.inode;
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  const bool changes =
      work.dirty || work.made_up || !step.chunks.empty() || inode.size_bytes() != work.size_bytes;
  if (work.drop && last) mutation.writes.push_back(kv::erase(context_.token_key(f.ino)));
  if (!changes) return mutation;  // it only drops the flag of a file that nobody wrote to

  mutation.compares.push_back(kv::mod_revision_is(context_.inode_key(f.ino), record.revision));
  const MutexLock lock(f.mutex);
  if (work.chunked) {
    add_chunk_values(context_, step.chunks, f, mutation);
    inode.set_chunked(true);
    inode.clear_extents();
  } else if (!step.chunks.empty()) {
    *inode.mutable_extents() = step.chunks.front().value.extents();
  }
  add_reverse_changes(context_, step.reverse, f.ino, f.record.map_generation, mutation);
  const std::uint64_t covered = std::min(work.size_bytes, step.covered_blocks * kBlockBytes);
  inode.set_size_bytes(last ? work.size_bytes : std::max(inode.size_bytes(), covered));
  inode.set_used_blocks(static_cast<std::uint64_t>(static_cast<std::int64_t>(inode.used_blocks()) +
                                                   step.used_blocks_delta));
  if (work.made_up) {
    const std::int64_t now_ns = context_.session.next_time_ns();
    inode.set_mtime_ns(now_ns);
    inode.set_ctime_ns(now_ns);
  } else if (work.dirty) {
    inode.set_mtime_ns(work.mtime_ns);  // later than any mtime set by SETATTR: set_times.cc
    inode.set_ctime_ns(std::max(inode.ctime_ns(), work.mtime_ns));
  }
  mutation.writes.push_back(kv::put(context_.inode_key(f.ino), changed_inode(inode)));
  return mutation;
}

}  // namespace symnas::fs
