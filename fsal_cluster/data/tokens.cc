// The tokens of this mount: getting one, giving it back when another mount wants it, and what a
// file under a foreign X shows (docs/architecture/several_mounts.md).
#include <algorithm>
#include <future>

#include <fmt/core.h>

#include "common/base/check.h"
#include "common/base/instance_counters.h"
#include "common/base/log.h"
#include "fsal_cluster/data/data_path.h"

namespace symnas::fs {
namespace {

Error closing() { return {ErrorCode::kShutdown, "the mount is being closed"}; }

std::string want_value(MountId mount, records::WantRecord::Kind kind) {
  records::WantRecord want;
  want.set_kind(kind);
  want.set_mount(mount.value());
  return want.SerializeAsString();
}

// Compares that no token of the inode was put after `at`. Tokens erased since do not matter.
kv::Compare no_token_after(FsId fs, Ino ino, Revision at) {
  kv::Compare compare;
  compare.range = kv::prefix_range(kv::keys::token_prefix(fs, ino));
  compare.target = kv::Compare::Target::kModRevision;
  compare.relation = kv::Compare::Relation::kLess;
  compare.number = at.value() + 1;
  return compare;
}

}  // namespace

Task<Status> DataPath::pass_barrier() {
  Awaited<Status> answer;
  session_.barrier_async(answer.callback());
  Status passed = co_await answer;
  co_return passed;
}

Task<Woken> DataPath::pause(std::int64_t span_ns) {
  Turn turn;
  background_->post_at(clock_.mono_ns() + span_ns, [&turn] { turn.deliver({}); });
  co_await turn;
  co_return Woken{};
}

Task<Woken> DataPath::changed(Ino ino, const TokenSight& seen) {
  Turn turn;
  tokens_->when_changed(ino, seen,
                        [this, &turn] { background_->post([&turn] { turn.deliver({}); }); });
  co_await turn;
  co_return Woken{};
}

// --- getting one

Task<Status> DataPath::obtain_token(FileState& f, TokenMode needed, TokenUse use) {
  for (;;) {
    Turn turn;
    bool mine = false;
    {
      const MutexLock lock(f.mutex);
      if (f.removed || f.token.mode >= needed) co_return Status{};
      mine = !f.token.wanted;
      f.token.wanted = true;
      if (!mine) f.token.waiters.push_back(waiter_id(turn));
    }
    if (!mine) {
      co_await turn;
      continue;
    }
    Status acquired = co_await acquire_token(f, needed, use);
    std::vector<WaiterId> waiters;
    {
      const MutexLock lock(f.mutex);
      f.token.wanted = false;
      waiters.swap(f.token.waiters);
    }
    wake(waiters);
    co_return acquired;
  }
}

Task<Status> DataPath::acquire_token(FileState& f, TokenMode needed, TokenUse use) {
  for (;;) {
    if (closing_) co_return tl::unexpected(closing());
    const TokenSight sight = tokens_->sight(f.ino);
    switch (next_grant_step(sight, options_.mount, needed)) {
      case GrantStep::kWait:
        ++instance_counters().token_waits;
        co_await changed(f.ino, sight);
        break;
      case GrantStep::kAsk: {
        const auto kind =
            needed == TokenMode::kExclusive ? records::WantRecord::X : records::WantRecord::S;
        const auto asked = co_await put_want(f.ino, kind);
        if (!asked) co_return tl::unexpected(asked.error());
        if (*asked) break;
        const Result<InodeRecord> record = co_await read_inode(f);  // kStale: nothing to ask for
        if (!record) co_return tl::unexpected(record.error());
        break;
      }
      case GrantStep::kGrant: {
        const Result<bool> granted = co_await grant_token(f, sight, needed, use);
        if (!granted) withdraw_want(f.ino);
        if (!granted) co_return tl::unexpected(granted.error());
        if (!*granted) break;
        ++instance_counters().tokens_granted;
        co_return Status{};
      }
    }
  }
}

// Puts the want if there is none, and waits until the table shows the outcome. Answers the want's
// revision; nullopt: there is one already, or the inode is gone.
Task<Result<std::optional<Revision>>> DataPath::put_want(Ino ino, records::WantRecord::Kind kind) {
  const std::string key = kv::keys::want(options_.fs, ino);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {kv::key_absent(key), kv::key_exists(inode_key(ino))};
  mutation.writes = {kv::put(key, want_value(options_.mount, kind))};
  const Result<kv::Committed> committed = co_await commit_mutation(mutation);
  if (!committed) co_return tl::unexpected(committed.error());
  const Status passed = co_await pass_barrier();
  if (!passed) withdraw_want(ino);
  if (!passed) co_return tl::unexpected(passed.error());
  std::optional<Revision> put;
  if (committed->succeeded) put = committed->revision;
  co_return put;
}

Task<Status> DataPath::erase_want(Ino ino, Revision revision) {
  const std::string key = kv::keys::want(options_.fs, ino);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {kv::mod_revision_is(key, revision)};
  mutation.writes = {kv::erase(key)};
  const Result<kv::Committed> committed = co_await commit_mutation(mutation);
  if (!committed) co_return tl::unexpected(committed.error());
  Status passed = co_await pass_barrier();
  co_return passed;
}

Detached DataPath::withdraw_want(Ino ino) {
  const RunningOperation running(running_);
  while (!closing_) {
    const TokenSight sight = tokens_->sight(ino);
    if (!sight.complete) {
      co_await changed(ino, sight);
      continue;
    }
    if (!sight.want || sight.want->mount != options_.mount) co_return;
    const Status erased = co_await erase_want(ino, sight.want->revision);
    if (!erased) co_await pause(kWantRetryNs);
  }
}

// Puts the token. The I/O lock is held exclusively for the transaction: no operation of this file
// puts or erases the token meanwhile, or works with a map that is older than the grant.
Task<Result<bool>> DataPath::grant_token(FileState& f, const TokenSight& sight, TokenMode needed,
                                         TokenUse use) {
  Turn turn;
  bool held = false;
  {
    const MutexLock lock(f.mutex);
    held = f.io_lock.acquire_exclusive(waiter_id(turn));
  }
  if (!held) co_await turn;
  co_await dropped_flag(f);  // erase_unused_tokens() may be dropping it
  TokenMode had = TokenMode::kNone;
  bool wrote = false;
  {
    const MutexLock lock(f.mutex);
    had = f.token.mode;
    wrote = f.flag.state() == WriteFlag::State::kSet;
  }
  if (had >= needed) {  // meanwhile the file was loaded with the token from its creation
    leave_exclusive(f);
    const bool asked = sight.want && sight.want->mount == options_.mount;
    Status erased;  // not in a conditional expression: gcc 12 frees its error twice
    if (asked) erased = co_await erase_want(f.ino, sight.want->revision);
    if (!erased) co_return tl::unexpected(erased.error());
    co_return true;
  }
  const TokenMode take = use == TokenUse::kWrite ? mode_to_take(sight, needed) : needed;
  const std::string want = kv::keys::want(options_.fs, f.ino);
  records::TokenRecord token;
  token.set_mode(take == TokenMode::kExclusive ? records::TokenRecord::X : records::TokenRecord::S);
  token.set_wrote(wrote || use == TokenUse::kWrite);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {kv::key_exists(inode_key(f.ino)),
                       kv::mod_revision_is(want, sight.want ? sight.want->revision : Revision{0}),
                       no_token_after(options_.fs, f.ino, sight.at)};
  mutation.writes = {kv::put(token_key(f.ino), token.SerializeAsString())};
  if (sight.want) mutation.writes.push_back(kv::erase(want));
  const Result<kv::Committed> committed = co_await commit_mutation(mutation);
  // Whatever the outcome: from here on the cache shows everything that was there before the grant.
  Status passed = co_await pass_barrier();
  if (committed && committed->succeeded && passed) {
    const MutexLock lock(f.mutex);
    if (had == TokenMode::kNone) forget_map(f);
    f.token.mode = take;
    f.token.granted_ns = clock_.mono_ns();
    f.reads.last_ns = f.token.granted_ns;
    if (token.wrote() && !wrote) f.flag.adopt(clock_.mono_ns());
    if (token.wrote() && take == TokenMode::kShared) f.unrecorded.made_up = true;
    list(f);
  }
  leave_exclusive(f);
  if (!committed) co_return tl::unexpected(committed.error());
  if (!passed) co_return tl::unexpected(passed.error());
  if (committed->succeeded) co_return true;
  const Result<InodeRecord> record = co_await read_inode(f);  // kStale: there is no token to get
  if (!record) co_return tl::unexpected(record.error());
  co_return false;
}

Task<Woken> DataPath::dropped_flag(FileState& f) {
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

Task<Status> DataPath::enter_owned(FileState& f, const Handle& handle,
                                   std::optional<Membership::Stay>& stay) {
  for (;;) {
    stay.reset();
    stay.emplace(membership_->enter());
    Status status;
    if (!stay->sole()) status = co_await obtain_token(f, TokenMode::kExclusive, TokenUse::kRead);
    Turn turn;
    if (status) status = co_await enter_exclusive(f, handle, turn);
    if (!status) co_return status;
    {
      const MutexLock lock(f.mutex);
      if (stay->sole() || f.token.mode == TokenMode::kExclusive) co_return Status{};
    }
    leave_exclusive(f);
  }
}

// --- giving it back

// The key is erased. What memory knows of the map stays true until another mount gets a token.
void DataPath::token_gone(FileState& f) {
  f.token.mode = TokenMode::kNone;
  f.record.loaded_at = Revision{0};
  ++f.life;
}

Detached DataPath::answer_want(Ino ino) {
  const RunningOperation running(running_);
  const FilePtr f = file(ino);
  {
    const MutexLock lock(f->mutex);
    if (f->token.answering_want) co_return;  // the running one looks again before it ends
    f->token.answering_want = true;
  }
  for (;;) {
    TokenSight sight;
    std::int64_t stays_ns = 0;
    {
      // Looked up with the file's mutex held: a later call that finds this one answering has seen
      // nothing that this one has not seen.
      const MutexLock lock(f->mutex);
      sight = tokens_->sight(ino);
      const bool asked = sight.want && sight.want->mount != options_.mount;
      if (closing_ || f->removed || !asked || !sight.mine) {
        f->token.answering_want = false;
        break;
      }
      if (sight.want->kind != records::WantRecord::PUBLISH) {
        stays_ns = f->token.granted_ns + kGrantStaysNs - clock_.mono_ns();
      }
    }
    if (stays_ns > 0) {
      co_await pause(stays_ns);
      continue;
    }
    Status answered;
    if (sight.want->kind == records::WantRecord::PUBLISH) {
      answered = co_await record_acknowledged(*f);
      if (answered) answered = co_await erase_want(ino, sight.want->revision);
    } else {
      answered = co_await give_token_back(*f);
    }
    if (!answered) {
      log::warn("inode {}: cannot answer yet what another mount wants: {}", ino.value(),
                answered.error().message);
      co_await pause(kWantRetryNs);
      continue;
    }
    co_await changed(ino, sight);
  }
  forget_unused(f);
}

Task<Status> DataPath::record_acknowledged(FileState& f) {
  Turn turn;
  bool held = false;
  {
    const MutexLock lock(f.mutex);
    held = f.io_lock.acquire_shared(waiter_id(turn));
  }
  if (!held) co_await turn;
  bool known = false;
  {
    const MutexLock lock(f.mutex);
    known = f.loaded && !f.removed;
    f.commits.times = f.commits.times || (known && (f.unrecorded.dirty || f.unrecorded.made_up));
  }
  Status committed;
  if (known) committed = co_await commit_file(f, DropFlag::kMay);
  leave_shared(f);
  co_return committed;
}

Task<Status> DataPath::give_token_back(FileState& f) {
  Turn turn;
  bool held = false;
  {
    const MutexLock lock(f.mutex);
    held = f.io_lock.acquire_exclusive(waiter_id(turn));
  }
  if (!held) co_await turn;
  co_await dropped_flag(f);  // erase_unused_tokens() may be dropping it
  bool known = false;
  bool held_one = false;
  {
    const MutexLock lock(f.mutex);
    known = f.loaded && !f.removed;
    held_one = f.token.mode != TokenMode::kNone;
  }
  Status status;
  if (known && held_one) status = co_await commit_file(f, DropFlag::kMust);
  // A token may be left that the commit did not erase: one without the flag, one not used yet of a
  // file that was only created, or one that memory does not know of.
  bool left = false;
  {
    const MutexLock lock(f.mutex);
    left = !f.removed && (f.token.mode != TokenMode::kNone || !held_one);
  }
  if (status && left) {
    const Drop drop = co_await begin_drop(f);
    kv::Mutation mutation;
    mutation.growth = kv::Growth::kMustGo;
    mutation.writes = {kv::erase(token_key(f.ino))};
    const Result<kv::Committed> committed = co_await commit_mutation(mutation);
    end_drop(f, drop, committed);
    if (!committed) status = tl::unexpected(committed.error());
  }
  if (status) {
    const MutexLock lock(f.mutex);
    CHECK(f.removed || !f.has_growth(), "a token given back before all was recorded");
    if (held_one || left) ++instance_counters().tokens_given_back;
    token_gone(f);
    if (!f.removed) forget_map(f);
  }
  leave_exclusive(f);
  co_return status;
}

Detached DataPath::return_token(FilePtr f, StatusCallback done) {
  const RunningOperation running(running_);
  Status returned = co_await give_token_back(*f);
  if (done) done(std::move(returned));
}

// --- what other mounts have acknowledged

Status DataPath::publish_foreign(Ino ino) {
  if (tokens_ == nullptr || membership_->is_sole()) return {};
  const RunningOperation running(running_);
  // While a token is being erased, other mounts may have replaced what memory has.
  if (const FilePtr known = find_file(ino)) static_cast<void>(wait_for(dropped_flag(*known)));
  const TokenSight sight = tokens_->sight(ino);
  if (sight.complete && !sight.foreign_exclusive) return {};
  const FilePtr f = file(ino);
  Status published = wait_for(publish(*f));
  forget_unused(f);
  return published;
}

// A caller that comes while a publish is under way shares the next one: what it asks for may have
// been acknowledged after the present one was answered.
Task<Status> DataPath::publish(FileState& f) {
  Awaited<Status> answer;
  bool start = false;
  {
    const MutexLock lock(f.mutex);
    f.publishing.requests.push_back(&answer);
    start = !f.publishing.running;
    f.publishing.running = true;
  }
  if (start) publish_runner(f.shared_from_this());
  Status published = co_await answer;
  co_return published;
}

Detached DataPath::publish_runner(FilePtr f) {
  const RunningOperation running(running_);
  for (;;) {
    std::vector<Awaited<Status>*> served;
    {
      const MutexLock lock(f->mutex);
      served.swap(f->publishing.requests);
      f->publishing.running = !served.empty();
    }
    if (served.empty()) break;
    const Status published = co_await ask_to_publish(f->ino);
    for (Awaited<Status>* answer : served) answer->deliver(published);
  }
  forget_unused(f);
}

Task<Status> DataPath::ask_to_publish(Ino ino) {
  std::optional<Revision> asked;
  for (;;) {
    if (closing_) co_return tl::unexpected(closing());
    const TokenSight sight = tokens_->sight(ino);
    const bool mine = sight.want && sight.want->mount == options_.mount;
    if (!sight.complete) {
      co_await changed(ino, sight);
    } else if (asked && (!mine || sight.want->revision != *asked)) {
      co_return Status{};  // the want is gone: it was answered
    } else if (!sight.foreign_exclusive) {
      Status erased;
      if (asked) erased = co_await erase_want(ino, *asked);
      if (!erased) withdraw_want(ino);  // nobody else erases it: the holder has left
      co_return Status{};
    } else if (sight.want) {
      co_await changed(ino, sight);
    } else {
      const auto put = co_await put_want(ino, records::WantRecord::PUBLISH);
      if (!put) co_return tl::unexpected(put.error());
      if (*put) asked = **put;
    }
  }
}

std::optional<Overlay::ForeignWrites> DataPath::foreign_writes(Ino ino) {
  if (tokens_ == nullptr || membership_->is_sole()) return std::nullopt;
  const TokenSight sight = tokens_->sight(ino);
  if (!sight.foreign_wrote || sight.foreign_exclusive) return std::nullopt;  // X: it was published
  Overlay::ForeignWrites out;
  const MutexLock lock(looks_.mutex);
  if (sight.at > looks_.applied) {
    looks_.applied = sight.at;
    looks_.n = 0;
  }
  looks_.n = std::min(looks_.n + 1, kChangeCountMax);
  out.applied = looks_.applied;
  out.n = looks_.n;
  out.time_ns = session_.stamp_time_ns() + looks_.n;
  return out;
}

void DataPath::turned_sole() {
  for (Shard& shard : shards_) {
    const MutexLock lock(shard.mutex);
    for (auto& [ino, f] : shard.files) {
      const MutexLock file_lock(f->mutex);
      if (f->loaded && !f->removed && f->token.mode == TokenMode::kNone &&
          f->flag.state() == WriteFlag::State::kClear) {
        forget_map(*f);
      }
    }
  }
}

}  // namespace symnas::fs
