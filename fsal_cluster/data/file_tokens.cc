#include "fsal_cluster/data/file_tokens.h"

#include <utility>

#include "common/base/check.h"
#include "common/base/instance_counters.h"
#include "common/base/log.h"

namespace symnas::fs {
namespace {

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

Task<Woken> FileTokens::changed(Ino ino, const TokenSight& seen) {
  Turn turn;
  context_.tokens->when_changed(
      ino, seen, [this, &turn] { context_.background->post([&turn] { turn.deliver({}); }); });
  co_await turn;
  co_return Woken{};
}

// --- getting one

Task<Status> FileTokens::obtain(FileState& f, TokenMode needed, TokenUse use) {
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
    Status acquired = co_await acquire(f, needed, use);
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

Task<Status> FileTokens::acquire(FileState& f, TokenMode needed, TokenUse use) {
  for (;;) {
    if (context_.closing) co_return tl::unexpected(closing());
    const TokenSight sight = context_.tokens->sight(f.ino);
    switch (next_grant_step(sight, context_.options.mount, needed)) {
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
        const Result<InodeRecord> record =
            co_await read_inode(context_, f);  // kStale: nothing to ask for
        if (!record) co_return tl::unexpected(record.error());
        break;
      }
      case GrantStep::kGrant: {
        const Result<bool> granted = co_await grant(f, sight, needed, use);
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
Task<Result<std::optional<Revision>>> FileTokens::put_want(Ino ino,
                                                           records::WantRecord::Kind kind) {
  const std::string key = kv::keys::want(context_.options.fs, ino);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {kv::key_absent(key), kv::key_exists(context_.inode_key(ino))};
  mutation.writes = {kv::put(key, want_value(context_.options.mount, kind))};
  const Result<kv::Committed> committed = co_await commit_mutation(context_, mutation);
  if (!committed) co_return tl::unexpected(committed.error());
  const Status passed = co_await pass_barrier(context_);
  if (!passed) withdraw_want(ino);
  if (!passed) co_return tl::unexpected(passed.error());
  std::optional<Revision> put;
  if (committed->succeeded) put = committed->revision;
  co_return put;
}

Task<Status> FileTokens::erase_want(Ino ino, Revision revision) {
  const std::string key = kv::keys::want(context_.options.fs, ino);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {kv::mod_revision_is(key, revision)};
  mutation.writes = {kv::erase(key)};
  const Result<kv::Committed> committed = co_await commit_mutation(context_, mutation);
  if (!committed) co_return tl::unexpected(committed.error());
  Status passed = co_await pass_barrier(context_);
  co_return passed;
}

Detached FileTokens::withdraw_want(Ino ino) {
  const RunningOperation running(context_.running);
  while (!context_.closing) {
    const TokenSight sight = context_.tokens->sight(ino);
    if (!sight.complete) {
      co_await changed(ino, sight);
      continue;
    }
    if (!sight.want || sight.want->mount != context_.options.mount) co_return;
    const Status erased = co_await erase_want(ino, sight.want->revision);
    if (!erased) co_await pause_for(context_, kWantRetryNs);
  }
}

// Puts the token. The I/O lock is held exclusively for the transaction: no operation of this file
// puts or erases the token meanwhile, or works with a map that is older than the grant.
Task<Result<bool>> FileTokens::grant(FileState& f, const TokenSight& sight, TokenMode needed,
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
    const bool asked = sight.want && sight.want->mount == context_.options.mount;
    Status erased;  // not in a conditional expression: gcc 12 frees its error twice
    if (asked) erased = co_await erase_want(f.ino, sight.want->revision);
    if (!erased) co_return tl::unexpected(erased.error());
    co_return true;
  }
  const TokenMode take = use == TokenUse::kWrite ? mode_to_take(sight, needed) : needed;
  const std::string want = kv::keys::want(context_.options.fs, f.ino);
  records::TokenRecord token;
  token.set_mode(take == TokenMode::kExclusive ? records::TokenRecord::X : records::TokenRecord::S);
  token.set_wrote(wrote || use == TokenUse::kWrite);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {kv::key_exists(context_.inode_key(f.ino)),
                       kv::mod_revision_is(want, sight.want ? sight.want->revision : Revision{0}),
                       no_token_after(context_.options.fs, f.ino, sight.at)};
  mutation.writes = {kv::put(context_.token_key(f.ino), token.SerializeAsString())};
  if (sight.want) mutation.writes.push_back(kv::erase(want));
  const Result<kv::Committed> committed = co_await commit_mutation(context_, mutation);
  // Whatever the outcome: from here on the cache shows everything that was there before the grant.
  Status passed = co_await pass_barrier(context_);
  if (committed && committed->succeeded && passed) {
    const MutexLock lock(f.mutex);
    if (had == TokenMode::kNone) loader_.forget_map(f);
    f.token.mode = take;
    f.token.granted_ns = context_.clock.mono_ns();
    f.reads.last_ns = f.token.granted_ns;
    if (token.wrote() && !wrote) f.flag.adopt(context_.clock.mono_ns());
    if (token.wrote() && take == TokenMode::kShared) f.unrecorded.made_up = true;
    list(context_, f);
  }
  leave_exclusive(f);
  if (!committed) co_return tl::unexpected(committed.error());
  if (!passed) co_return tl::unexpected(passed.error());
  if (committed->succeeded) co_return true;
  const Result<InodeRecord> record =
      co_await read_inode(context_, f);  // kStale: there is no token to get
  if (!record) co_return tl::unexpected(record.error());
  co_return false;
}

Task<Status> FileTokens::enter_owned(FileState& f, const Handle& handle,
                                     std::optional<Membership::Stay>& stay) {
  for (;;) {
    stay.reset();
    stay.emplace(context_.membership->enter());
    Status status;
    if (!stay->sole()) status = co_await obtain(f, TokenMode::kExclusive, TokenUse::kRead);
    Turn turn;
    if (status) status = co_await loader_.enter_exclusive(f, handle, turn);
    if (!status) co_return status;
    {
      const MutexLock lock(f.mutex);
      if (stay->sole() || f.token.mode == TokenMode::kExclusive) co_return Status{};
    }
    leave_exclusive(f);
  }
}

Task<Woken> FileTokens::take_free_token(FileState& f, bool alone) {
  const TokenSight sight = context_.tokens->sight(f.ino);
  const TokenMode mode = alone ? TokenMode::kExclusive : TokenMode::kShared;
  if (!sight.complete || sight.foreign || sight.want) co_return Woken{};
  {
    const MutexLock lock(f.mutex);
    if (f.removed || f.token.mode != TokenMode::kNone || f.token.wanted) co_return Woken{};
    f.token.wanted = true;
  }
  static_cast<void>(co_await grant(f, sight, mode, TokenUse::kRead));
  std::vector<WaiterId> waiters;
  {
    const MutexLock lock(f.mutex);
    f.token.wanted = false;
    waiters.swap(f.token.waiters);
  }
  wake(waiters);
  co_return Woken{};
}

// --- giving it back

Detached FileTokens::answer_want(Ino ino) {
  const RunningOperation running(context_.running);
  const FilePtr f = table_.file(ino);
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
      sight = context_.tokens->sight(ino);
      const bool asked = sight.want && sight.want->mount != context_.options.mount;
      if (context_.closing || f->removed || !asked || !sight.mine) {
        f->token.answering_want = false;
        break;
      }
      if (sight.want->kind != records::WantRecord::PUBLISH) {
        stays_ns = f->token.granted_ns + kGrantStaysNs - context_.clock.mono_ns();
      }
    }
    if (stays_ns > 0) {
      co_await pause_for(context_, stays_ns);
      continue;
    }
    Status answered;
    if (sight.want->kind == records::WantRecord::PUBLISH) {
      answered = co_await record_acknowledged(*f);
      if (answered) answered = co_await erase_want(ino, sight.want->revision);
    } else {
      answered = co_await give_back(*f);
    }
    if (!answered) {
      if (log_is_due(context_, *f))
        log::warn("inode {}: cannot answer yet what another mount wants: {}", ino.value(),
                  answered.error().message);
      co_await pause_for(context_, kWantRetryNs);
      continue;
    }
    co_await changed(ino, sight);
  }
  table_.forget_unused(f);
}

Task<Status> FileTokens::give_back(FileState& f) {
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
  if (known && held_one) status = co_await committer_.commit_file(f, DropFlag::kMust);
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
    mutation.writes = {kv::erase(context_.token_key(f.ino))};
    const Result<kv::Committed> committed = co_await commit_mutation(context_, mutation);
    end_drop(context_, f, drop, committed);
    if (!committed) status = tl::unexpected(committed.error());
  }
  if (status) {
    const MutexLock lock(f.mutex);
    CHECK(f.removed || !f.has_growth(), "a token given back before all was recorded");
    if (held_one || left) ++instance_counters().tokens_given_back;
    token_gone(f);
    if (!f.removed) loader_.forget_map(f);
  }
  leave_exclusive(f);
  co_return status;
}

Detached FileTokens::return_token(FilePtr f, StatusCallback done) {
  const RunningOperation running(context_.running);
  Status returned = co_await give_back(*f);
  if (done) done(std::move(returned));
}

}  // namespace symnas::fs
