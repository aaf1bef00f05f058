// The flag is set before the first write of a file; the same transaction clears setuid and setgid.
// These bits may come back while the flag is set (a CREATE or SETATTR with such a mode): then the
// next write clears them by the same kind of transaction.
#include "fsal_cluster/data/file_flags.h"

#include <utility>

#include "fsal_cluster/schema/inode.h"

namespace symnas::fs {
namespace {

constexpr std::uint32_t kSetUid = 04000;
constexpr std::uint32_t kSetGid = 02000;
constexpr std::uint32_t kGroupExecute = 00010;

// Mode bits that a write takes away (chmod(2): setgid without group execute means something else).
std::uint32_t privileges(std::uint32_t mode) {
  std::uint32_t bits = mode & kSetUid;
  if ((mode & kSetGid) != 0 && (mode & kGroupExecute) != 0) bits |= kSetGid;
  return bits;
}

std::string token_value(TokenMode mode) {
  records::TokenRecord token;
  token.set_mode(mode == TokenMode::kShared ? records::TokenRecord::S : records::TokenRecord::X);
  token.set_wrote(true);
  return token.SerializeAsString();
}

}  // namespace

Task<Status> FileFlags::obtain(FileState& f, Attempt& attempt) {
  for (;;) {
    WriteFlag::Step step = WriteFlag::Step::kWait;
    Turn turn;
    {
      const MutexLock lock(f.mutex);
      if (!attempt.sole && f.token.mode == TokenMode::kNone) {  // it went with the flag
        attempt.go = Go::kAgain;
        co_return Status{};
      }
      step = f.flag.want_write(context_.clock.mono_ns());
      if (step == WriteFlag::Step::kProceed)
        ++f.writes.running;  // from here on the flag is not dropped
      if (step == WriteFlag::Step::kWait) f.flag_waiters.push_back(waiter_id(turn));
    }
    if (step == WriteFlag::Step::kProceed) {
      if (known_unprivileged(f)) co_return Status{};
      Status cleared = co_await clear_privileges(f);
      if (!cleared) {
        const MutexLock lock(f.mutex);
        --f.writes.running;
      }
      co_return cleared;
    }
    if (step == WriteFlag::Step::kWait) {
      co_await turn;
      continue;
    }
    const Status set = co_await set_flag(f);
    std::vector<WaiterId> waiters;
    {
      const MutexLock lock(f.mutex);
      f.flag.set_done(set.has_value(), context_.clock.mono_ns());
      waiters.swap(f.flag_waiters);
      if (set && attempt.sole) f.token.mode = TokenMode::kExclusive;
      if (set && f.token.mode == TokenMode::kShared) f.unrecorded.made_up = true;
      if (set) list(context_, f);
    }
    wake(waiters);
    if (!set) co_return set;
  }
}

bool FileFlags::known_unprivileged(FileState& f) {
  const std::optional<kv::CachedValue> cached = context_.session.peek(context_.inode_key(f.ino));
  if (!cached) return false;
  const MutexLock lock(f.mutex);
  if (f.writes.unprivileged_at == cached->mod_revision) return true;
  records::Inode inode;
  if (!cached->value || !inode.ParseFromString(*cached->value)) return false;
  if (privileges(inode.mode()) != 0) return false;
  f.writes.unprivileged_at = cached->mod_revision;
  return true;
}

Task<Status> FileFlags::clear_privileges(FileState& f) {
  const Result<InodeRecord> record = co_await read_inode(context_, f);  // fills the session's cache
  if (!record) co_return tl::unexpected(record.error());
  if (privileges(record->inode.mode()) == 0) co_return Status{};
  const Status cleared = co_await set_flag(f);
  co_return cleared;
}

Task<Status> FileFlags::set_flag(FileState& f) {
  for (int round = 0;; ++round) {
    const Status pause = co_await pause_after_conflict(context_, f, round);
    if (!pause) co_return pause;
    Result<InodeRecord> record = co_await read_inode(context_, f);
    if (!record) co_return tl::unexpected(record.error());
    kv::Mutation mutation;
    mutation.growth = kv::Growth::kMustGo;
    const std::uint32_t cleared = privileges(record->inode.mode());
    if (cleared != 0) {
      record->inode.set_mode(record->inode.mode() & ~cleared);
      record->inode.set_ctime_ns(context_.session.next_time_ns());
      mutation.compares.push_back(kv::mod_revision_is(context_.inode_key(f.ino), record->revision));
      mutation.writes.push_back(kv::put(context_.inode_key(f.ino), changed_inode(record->inode)));
    } else {
      mutation.compares.push_back(kv::key_exists(context_.inode_key(f.ino)));
    }
    // On a sole mount the operation that sets the flag has every right. The token cannot change
    // meanwhile: the file is entered.
    TokenMode mode = TokenMode::kExclusive;
    {
      const MutexLock lock(f.mutex);
      if (f.token.mode == TokenMode::kShared) mode = TokenMode::kShared;
    }
    mutation.writes.push_back(kv::put(context_.token_key(f.ino), token_value(mode)));
    const Result<kv::Committed> committed = co_await commit_mutation(context_, mutation);
    if (!committed) co_return tl::unexpected(committed.error());
    if (committed->succeeded) co_return Status{};
  }
}

void FileFlags::created(Ino ino) {
  context_.attention.add_created({ino, context_.clock.mono_ns()});
}

std::vector<kv::Op> FileFlags::tokens_at_create(Ino ino) {
  return {kv::put(context_.token_key(ino), token_value(TokenMode::kExclusive))};
}

Task<Woken> dropped_flag(FileState& f) {
  for (;;) {
    Turn turn;
    {
      const MutexLock lock(f.mutex);
      if (f.flag.state() != WriteFlag::State::kDropping) co_return Woken{};
      f.flag_waiters.push_back(waiter_id(turn));
    }
    co_await turn;
  }
}

void token_gone(FileState& f) {
  f.token.mode = TokenMode::kNone;
  f.record.loaded_at = Revision{0};
  ++f.life;
}

Task<Drop> begin_drop(FileState& f) {
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

void end_drop(DataContext& context, FileState& f, Drop drop, const Result<kv::Committed>& outcome) {
  std::vector<WaiterId> waiters;
  {
    const MutexLock lock(f.mutex);
    if (outcome) token_gone(f);
    if (drop == Drop::kNothing) return;  // a token for reading, or none
    f.flag.drop_done(outcome.has_value(), context.clock.mono_ns());
    waiters.swap(f.flag_waiters);
  }
  wake(waiters);
}

void FileFlags::erase_unused_tokens(std::int64_t before_ns, const StatusCallback& done) {
  const RunningErase counted(
      context_.running);  // until each token that it takes is where others find it
  const std::vector<AttentionList::CreatedToken> due = context_.attention.take_created(before_ns);
  std::vector<AttentionList::CreatedToken> busy;
  std::vector<FilePtr> files;
  for (const AttentionList::CreatedToken& created : due) {
    FilePtr f = table_.file(created.ino);
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
      f->flag.adopt(context_.clock.mono_ns());
      f->flag.begin_drop();
    }
    files.push_back(std::move(f));
    if (files.size() < kTokenErasesPerTxn) continue;
    erase_tokens(std::exchange(files, {}), nullptr);
  }
  if (!busy.empty()) context_.attention.put_back(busy);
  erase_tokens(std::move(files), done);
}

Detached FileFlags::erase_tokens(std::vector<FilePtr> files, StatusCallback done) {
  const RunningOperation running(context_.running);
  if (files.empty()) {
    if (done) done({});
    co_return;
  }
  const RunningErase counted(context_.running);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  for (const FilePtr& f : files) mutation.writes.push_back(kv::erase(context_.token_key(f->ino)));
  const Result<kv::Committed> committed = co_await commit_mutation(context_, mutation);
  const bool erased = committed && committed->succeeded;
  // A failed erase may mean that a token was given back before, and belongs to another mount by
  // now. So the keys tell which ones are still held.
  Result<std::vector<kv::CachedValue>> left;
  if (!erased) {
    std::vector<std::string> keys;
    for (const FilePtr& f : files) keys.push_back(context_.token_key(f->ino));
    Awaited<Result<std::vector<kv::CachedValue>>> answer;
    context_.session.read_async(std::move(keys), answer.callback());
    left = co_await answer;
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    FileState& f = *files[i];
    const bool held = !erased && left && (*left)[i].value.has_value();
    std::vector<WaiterId> waiters;
    {
      const MutexLock lock(f.mutex);
      f.flag.drop_done(!held, context_.clock.mono_ns());
      if (!held) token_gone(f);
      if (held && !f.removed) {
        f.token.mode = TokenMode::kExclusive;  // as the key says
        list(context_, f);
      }
      waiters.swap(f.flag_waiters);
    }
    wake(waiters);
  }
  for (const FilePtr& f : files) table_.forget_unused(f);
  if (!done) co_return;
  if (committed) {
    done({});
  } else {
    done(tl::unexpected(committed.error()));
  }
}

}  // namespace symnas::fs
