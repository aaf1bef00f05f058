// The write flag in the token. It is set before the first write of a file; the same transaction
// clears setuid and setgid. These bits may come back while the flag is set (a CREATE or SETATTR
// with such a mode): then the next write clears them by the same kind of transaction.
#include "fsal_cluster/data/data_path.h"
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

Task<Status> DataPath::obtain_flag(FileState& f, Attempt& attempt) {
  for (;;) {
    WriteFlag::Step step = WriteFlag::Step::kWait;
    Turn turn;
    {
      const MutexLock lock(f.mutex);
      if (!attempt.sole && f.token.mode == TokenMode::kNone) {  // it went with the flag
        attempt.go = Go::kAgain;
        co_return Status{};
      }
      step = f.flag.want_write(clock_.mono_ns());
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
      f.flag.set_done(set.has_value(), clock_.mono_ns());
      waiters.swap(f.flag_waiters);
      if (set && attempt.sole) f.token.mode = TokenMode::kExclusive;
      if (set && f.token.mode == TokenMode::kShared) f.unrecorded.made_up = true;
      if (set) list(f);
    }
    wake(waiters);
    if (!set) co_return set;
  }
}

bool DataPath::known_unprivileged(FileState& f) {
  const std::optional<kv::CachedValue> cached = session_.peek(inode_key(f.ino));
  if (!cached) return false;
  const MutexLock lock(f.mutex);
  if (f.writes.unprivileged_at == cached->mod_revision) return true;
  records::Inode inode;
  if (!cached->value || !inode.ParseFromString(*cached->value)) return false;
  if (privileges(inode.mode()) != 0) return false;
  f.writes.unprivileged_at = cached->mod_revision;
  return true;
}

Task<Status> DataPath::clear_privileges(FileState& f) {
  const Result<InodeRecord> record = co_await read_inode(f);  // fills the session's cache
  if (!record) co_return tl::unexpected(record.error());
  if (privileges(record->inode.mode()) == 0) co_return Status{};
  const Status cleared = co_await set_flag(f);
  co_return cleared;
}

Task<Status> DataPath::set_flag(FileState& f) {
  for (int round = 0;; ++round) {
    const Status pause = co_await pause_after_conflict(f, round);
    if (!pause) co_return pause;
    Result<InodeRecord> record = co_await read_inode(f);
    if (!record) co_return tl::unexpected(record.error());
    kv::Mutation mutation;
    mutation.growth = kv::Growth::kMustGo;
    const std::uint32_t cleared = privileges(record->inode.mode());
    if (cleared != 0) {
      record->inode.set_mode(record->inode.mode() & ~cleared);
      record->inode.set_ctime_ns(session_.next_time_ns());
      mutation.compares.push_back(kv::mod_revision_is(inode_key(f.ino), record->revision));
      mutation.writes.push_back(kv::put(inode_key(f.ino), changed_inode(record->inode)));
    } else {
      mutation.compares.push_back(kv::key_exists(inode_key(f.ino)));
    }
    // On a sole mount the operation that sets the flag has every right. The token cannot change
    // meanwhile: the file is entered.
    TokenMode mode = TokenMode::kExclusive;
    {
      const MutexLock lock(f.mutex);
      if (f.token.mode == TokenMode::kShared) mode = TokenMode::kShared;
    }
    mutation.writes.push_back(kv::put(token_key(f.ino), token_value(mode)));
    const Result<kv::Committed> committed = co_await commit_mutation(mutation);
    if (!committed) co_return tl::unexpected(committed.error());
    if (committed->succeeded) co_return Status{};
  }
}

void DataPath::created(Ino ino) { attention_.add_created({ino, clock_.mono_ns()}); }

std::vector<kv::Op> DataPath::tokens_at_create(Ino ino) {
  return {kv::put(token_key(ino), token_value(TokenMode::kExclusive))};
}

}  // namespace symnas::fs
