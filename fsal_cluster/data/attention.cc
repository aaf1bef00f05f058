// What the data path does without a request: it drops write flags, commits idle dirty files,
// returns reservations.
#include <algorithm>

#include "common/base/log.h"
#include "fsal_cluster/data/data_path.h"

namespace symnas::fs {

void DataPath::list(FileState& f) {
  if (f.listed) return;
  f.listed = true;
  attention_.add(f.ino);
}

void DataPath::arm_tick() {
  background_->post_at(clock_.mono_ns() + kTickNs, [this] {
    if (closing_) return;
    tick();
    arm_tick();
  });
}

void DataPath::tick() {
  const std::int64_t now_ns = clock_.mono_ns();
  for (const Ino ino : attention_.files()) {
    const FilePtr f = find_file(ino);
    if (f) {
      attend(f, now_ns);
    } else {
      attention_.remove(ino);
    }
  }
  erase_unused_tokens(now_ns - kWriteFlagHoldNs, nullptr);
}

void DataPath::attend(const FilePtr& f, std::int64_t now_ns) {
  bool start = false;
  bool give_back = false;
  {
    const MutexLock lock(f->mutex);
    const bool quiet = f->writes.running == 0 && !f->commits.running && f->io_lock.shared() == 0;
    const bool set = f->flag.state() == WriteFlag::State::kSet;
    if (quiet && set && now_ns >= f->flag.drop_due_ns()) {
      start = f->loaded;
      give_back = !f->loaded;  // granted for a WRITE that has not come
    } else if (quiet && !set && now_ns >= f->writes.last_ns + kIdleNs) {
      if (f->unrecorded.dirty || f->has_growth()) {
        start = true;
      } else {
        trim_reservations(*f);
        const bool clear = f->flag.state() == WriteFlag::State::kClear;
        if (clear && f->token.mode != TokenMode::kNone) {
          give_back = now_ns >= std::max(f->writes.last_ns, f->reads.last_ns) + kTokenIdleNs;
        } else if (f->map.reserved_blocks() == 0 && clear) {
          f->listed = false;
          attention_.remove(f->ino);
          return;
        }
      }
    } else if (quiet && set && f->has_growth() && now_ns >= f->writes.last_ns + kIdleNs) {
      start = true;  // a steady writer: the flag stays, but the data is committed
    }
    if (start && !f->unrecorded.dirty && !set && !f->has_growth()) start = false;
  }
  if (start && !closing_) commit_idle(f, DropFlag::kMust, nullptr);
  if (give_back && !closing_) return_token(f, nullptr);
}

Detached DataPath::commit_idle(FilePtr f, DropFlag drop, StatusCallback done) {
  const RunningOperation running(running_);
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
  if (!status) log::warn("idle inode {} not committed: {}", f->ino.value(), status.error().message);
  if (done) done(std::move(status));
}

void DataPath::trim_reservations(FileState& f) {
  if (!f.loaded || !f.map.idle()) return;
  for (const BlockRun& run : f.map.drop_reservations()) space_->give_back(run);
  f.growth.tail_end_block = 0;
  f.growth.streak_blocks = 0;
}

// The volume is full: idle files give back what they have reserved. True when busy files still hold
// some.
bool DataPath::return_reservations() {
  bool held = false;
  for (const Ino ino : attention_.files()) {
    const FilePtr f = find_file(ino);
    if (!f) continue;
    bool commit = false;
    {
      const MutexLock lock(f->mutex);
      if (!f->loaded || f->map.reserved_blocks() == 0) continue;
      if (f->writes.running == 0 && !f->commits.running) trim_reservations(*f);
      if (f->map.reserved_blocks() == 0) continue;
      if (f->writes.want_room > 0 && f->writes.want_room == f->writes.running)
        continue;  // its writers wait for space
      held = true;
      commit = f->writes.running == 0 && !f->commits.running && f->has_growth();
    }
    if (commit && !closing_) commit_idle(f, DropFlag::kMay, nullptr);
  }
  return held;
}

// Erases the tokens of files that were created some seconds ago and never written: they carry the
// write flag for nothing.
void DataPath::erase_unused_tokens(std::int64_t before_ns, const StatusCallback& done) {
  const RunningErase counted(running_);  // until each token that it takes is where others find it
  const std::vector<CreatedToken> due = attention_.take_created(before_ns);
  std::vector<CreatedToken> busy;
  std::vector<FilePtr> files;
  for (const CreatedToken& created : due) {
    FilePtr f = file(created.ino);
    {
      const MutexLock lock(f->mutex);
      // A loaded file has taken over the flag of its token (or never had one): attend() sees to it.
      if (f->loaded || f->removed || f->flag.state() != WriteFlag::State::kClear ||
          f->token.mode != TokenMode::kNone)
        continue;
      // While the token is being granted, given back or taken over it must not be erased: that
      // would erase the outcome.
      if (f->token.wanted || !f->io_lock.idle()) {
        busy.push_back(created);
        continue;
      }
      f->flag.adopt(clock_.mono_ns());
      f->flag.begin_drop();
    }
    files.push_back(std::move(f));
    if (files.size() < kTokenErasesPerTxn) continue;
    erase_tokens(std::exchange(files, {}), nullptr);
  }
  if (!busy.empty()) attention_.put_back(busy);
  erase_tokens(std::move(files), done);
}

Detached DataPath::erase_tokens(std::vector<FilePtr> files, StatusCallback done) {
  const RunningOperation running(running_);
  if (files.empty()) {
    if (done) done({});
    co_return;
  }
  const RunningErase counted(running_);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  for (const FilePtr& f : files) mutation.writes.push_back(kv::erase(token_key(f->ino)));
  const Result<kv::Committed> committed = co_await commit_mutation(mutation);
  const bool erased = committed && committed->succeeded;
  // A failed erase may mean that a token was given back before, and belongs to another mount by
  // now. So the keys tell which ones are still held.
  Result<std::vector<kv::CachedValue>> left;
  if (!erased) {
    std::vector<std::string> keys;
    for (const FilePtr& f : files) keys.push_back(token_key(f->ino));
    Awaited<Result<std::vector<kv::CachedValue>>> answer;
    session_.read_async(std::move(keys), answer.callback());
    left = co_await answer;
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    FileState& f = *files[i];
    const bool held = !erased && left && (*left)[i].value.has_value();
    std::vector<WaiterId> waiters;
    {
      const MutexLock lock(f.mutex);
      f.flag.drop_done(!held, clock_.mono_ns());
      if (!held) token_gone(f);
      if (held && !f.removed) {
        f.token.mode = TokenMode::kExclusive;  // as the key says
        list(f);
      }
      waiters.swap(f.flag_waiters);
    }
    wake(waiters);
  }
  for (const FilePtr& f : files) forget_unused(f);
  if (!done) co_return;
  if (committed) {
    done({});
  } else {
    done(tl::unexpected(committed.error()));
  }
}

}  // namespace symnas::fs
