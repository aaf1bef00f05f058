// COMMIT: flush the volume, then record growth, size and times in one transaction (in several when
// the map change is large). The write flag is dropped with it, or by a commit of its own.
#include <algorithm>
#include <cstdint>
#include <future>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "fsal_cluster/data/data_path.h"
#include "fsal_cluster/schema/inode.h"

namespace symnas::fs {

void DataPath::commit(const Handle& handle, StatusCallback done) {
  commit_operation(handle, std::move(done));
}

Detached DataPath::commit_operation(Handle handle, StatusCallback done) {
  const RunningOperation running(running_);
  const FilePtr f = file(handle.ino);
  Turn turn;
  Status status = co_await enter_shared(*f, handle, turn);
  if (!status) {
    forget_unused(f);
    done(std::move(status));
    co_return;
  }
  status = co_await commit_file(*f, DropFlag::kMay);
  leave_shared(*f);
  if (!status && status.error().code == ErrorCode::kFenced) failed_for_good(status.error());
  done(std::move(status));
}

Task<Status> DataPath::commit_file(FileState& f, DropFlag drop) {
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

Task<Status> DataPath::commit_everything(FileState& f) {
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

// Serves commit requests until there is none. Each requester keeps the file entered until it has
// its answer.
Detached DataPath::commit_runner(FilePtr f) {
  const RunningOperation running(running_);
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

DataPath::CommitWork DataPath::begin_commit(FileState& f, DropFlag drop, bool times) {
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

Task<Status> DataPath::commit_once(FileState& f, DropFlag drop, bool times) {
  CommitWork work;
  {
    const MutexLock lock(f.mutex);
    work = begin_commit(f, drop, times);
  }
  Status status;
  if (work.flush) {
    Awaited<Status> answer;
    volume_->flush(answer.callback());
    status = co_await answer;
    if (!status) failed_for_good(status.error());
  }
  if (work.transaction) {
    for (std::size_t i = 0; status && i < work.steps.size(); ++i) {
      status = co_await commit_step(f, work, i);
    }
  }
  end_commit(f, work, status);
  co_return status;
}

void DataPath::end_commit(FileState& f, const CommitWork& work, const Status& outcome) {
  std::vector<WaiterId> waiters;
  {
    const MutexLock lock(f.mutex);
    if (!outcome && work.flush) f.writes.unflushed = true;
    if (work.drop) {
      f.flag.drop_done(outcome.has_value(), clock_.mono_ns());
      if (outcome) token_gone(f);
      waiters.swap(f.flag_waiters);
    }
    if (outcome && f.writes.running == 0 && f.size() <= kInlineBytesMax) trim_reservations(f);
  }
  wake(waiters);
}

Task<Status> DataPath::commit_step(FileState& f, const CommitWork& work, std::size_t index) {
  const bool last = index + 1 == work.steps.size();
  for (int round = 0;; ++round) {
    const Status pause = co_await pause_after_conflict(f, round);
    if (!pause) co_return pause;
    const Result<InodeRecord> record = co_await read_inode(f);
    if (!record) co_return tl::unexpected(record.error());
    InodeRecord next = *record;
    kv::Mutation mutation = step_mutation(f, work, index, next);
    const Result<kv::Committed> committed = co_await commit_mutation(mutation);
    if (!committed) co_return tl::unexpected(committed.error());
    if (!committed->succeeded) continue;
    const MutexLock lock(f.mutex);
    f.record.chunked = f.record.chunked || (work.chunked && next.inode.chunked());
    f.map.committed(work.steps[index], next.inode.chunked() ? committed->revision : Revision{0});
    for (const ReverseChange& change : work.steps[index].reverse) {
      if (change.new_blocks <= change.old_blocks) continue;
      space_->recorded(
          {change.volume_block + change.old_blocks, change.new_blocks - change.old_blocks});
    }
    f.record.size_bytes = next.inode.size_bytes();
    f.version = next_version_.fetch_add(1);
    // While an S token has the flag, other mounts go on making up changes. A token that went with
    // the transaction has none: a commit that waits for this one must not put what is old by then.
    if (last && (work.drop || f.token.mode != TokenMode::kShared)) f.unrecorded.made_up = false;
    if (last && work.dirty && f.unrecorded.writes_seen == work.writes_seen)
      f.unrecorded.dirty = false;
    co_return Status{};
  }
}

// The transaction of one step. `record` becomes the record that it puts.
kv::Mutation DataPath::step_mutation(FileState& f, const CommitWork& work, std::size_t index,
                                     InodeRecord& record) {
  const MapStep& step = work.steps[index];
  const bool last = index + 1 == work.steps.size();
  records::Inode& inode = record.inode;
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  const bool changes =
      work.dirty || work.made_up || !step.chunks.empty() || inode.size_bytes() != work.size_bytes;
  if (work.drop && last) mutation.writes.push_back(kv::erase(token_key(f.ino)));
  if (!changes) return mutation;  // it only drops the flag of a file that nobody wrote to

  mutation.compares.push_back(kv::mod_revision_is(inode_key(f.ino), record.revision));
  const MutexLock lock(f.mutex);
  if (work.chunked) {
    add_chunk_values(step.chunks, f, mutation);
    inode.set_chunked(true);
    inode.clear_extents();
  } else if (!step.chunks.empty()) {
    *inode.mutable_extents() = step.chunks.front().value.extents();
  }
  add_reverse_changes(step.reverse, f.ino, f.record.map_generation, mutation);
  const std::uint64_t covered = std::min(work.size_bytes, step.covered_blocks * kBlockBytes);
  inode.set_size_bytes(last ? work.size_bytes : std::max(inode.size_bytes(), covered));
  inode.set_used_blocks(static_cast<std::uint64_t>(static_cast<std::int64_t>(inode.used_blocks()) +
                                                   step.used_blocks_delta));
  if (work.made_up) {
    const std::int64_t now_ns = session_.next_time_ns();
    inode.set_mtime_ns(now_ns);
    inode.set_ctime_ns(now_ns);
  } else if (work.dirty) {
    inode.set_mtime_ns(work.mtime_ns);  // later than any mtime set by SETATTR: set_times.cc
    inode.set_ctime_ns(std::max(inode.ctime_ns(), work.mtime_ns));
  }
  mutation.writes.push_back(kv::put(inode_key(f.ino), changed_inode(inode)));
  return mutation;
}

void DataPath::add_chunk_values(const std::vector<MapStep::ChunkValue>& chunks, FileState& f,
                                kv::Mutation& mutation) const {
  for (const MapStep::ChunkValue& chunk : chunks) {
    const std::string key =
        kv::keys::map_chunk(options_.fs, f.ino, f.record.map_generation, chunk.chunk);
    mutation.compares.push_back(kv::mod_revision_is(key, f.map.revision(chunk.chunk)));
    mutation.writes.push_back(chunk.value.extents_size() == 0
                                  ? kv::erase(key)
                                  : kv::put(key, chunk.value.SerializeAsString()));
  }
}

// Adds the reverse-map keys, with the compares that refuse a block with two owners, or a block of a
// group that this mount does not own any more.
void DataPath::add_reverse_changes(const std::vector<ReverseChange>& changes, Ino ino,
                                   MapGeneration generation, kv::Mutation& mutation) const {
  std::vector<std::uint64_t> guarded;
  for (const ReverseChange& change : changes) {
    const std::string key = space_->reverse_key(change.volume_block);
    if (change.new_blocks == 0) {
      mutation.writes.push_back(kv::erase(key));
      continue;
    }
    records::ReverseMap value;
    value.set_ino(ino.value());
    value.set_map_generation(generation.value());
    value.set_file_block(change.file_block);
    value.set_blocks(change.new_blocks);
    mutation.writes.push_back(kv::put(key, value.SerializeAsString()));
    if (change.new_blocks <= change.old_blocks) continue;
    if (change.old_blocks > 0) mutation.compares.push_back(kv::key_exists(key));
    mutation.compares.push_back(kv::range_absent(space_->reverse_range(
        change.volume_block + change.old_blocks, change.volume_block + change.new_blocks)));
    const std::uint64_t group = change.volume_block / options_.group_blocks;
    if (std::find(guarded.begin(), guarded.end(), group) != guarded.end()) continue;
    guarded.push_back(group);
    const auto guard = space_->guard(change.volume_block);
    CHECK(guard.has_value(), "growth in a group that is not ours");
    mutation.compares.push_back(*guard);
  }
}

// Files whose tokens memory knows of, and files that were created and not used.
std::vector<DataPath::FilePtr> DataPath::files_with_tokens() {
  std::vector<FilePtr> out;
  for (const Ino ino : attention_.files()) {
    FilePtr f = find_file(ino);
    if (!f) continue;
    const MutexLock lock(f->mutex);
    if (f->token.mode != TokenMode::kNone) out.push_back(f);
  }
  for (const CreatedToken& one : attention_.take_created(INT64_MAX)) out.push_back(file(one.ino));
  return out;
}

Status DataPath::flush_all() {
  std::vector<std::future<Status>> answers;
  const auto expect = [&answers]() -> StatusCallback {
    const auto promise = std::make_shared<std::promise<Status>>();
    answers.push_back(promise->get_future());
    return [promise](Status status) { promise->set_value(std::move(status)); };
  };
  erase_unused_tokens(INT64_MAX, expect());
  for (const Ino ino : attention_.files()) {
    FilePtr f = find_file(ino);
    if (!f) continue;
    bool nothing_to_record = false;
    {
      const MutexLock lock(f->mutex);
      nothing_to_record = f->token.mode != TokenMode::kNone && !f->unrecorded.dirty &&
                          !f->has_growth() && f->flag.state() == WriteFlag::State::kClear;
    }
    if (nothing_to_record) {
      return_token(std::move(f), expect());
    } else {
      commit_idle(std::move(f), DropFlag::kMust, expect());
    }
  }
  Status first;
  const auto collect = [&] {
    for (auto& answer : answers) {
      Status status = answer.get();
      if (!status && status.error().code != ErrorCode::kStale && first) first = std::move(status);
    }
    answers.clear();
  };
  collect();
  // Several rounds: meanwhile a tick may put back tokens that it could not erase.
  for (int round = 0; round < kFlushRoundsMax; ++round) {
    running_.wait_for_erases();  // files whose erase failed are listed then
    const std::vector<FilePtr> left = files_with_tokens();
    if (left.empty()) break;
    for (const FilePtr& f : left) return_token(f, expect());
    collect();
  }
  return first;
}

}  // namespace symnas::fs
