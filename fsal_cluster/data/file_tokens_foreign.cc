// What other mounts have acknowledged and not recorded, and what this one has to record for them.
#include "fsal_cluster/data/file_tokens.h"

#include <algorithm>

#include "fsal_cluster/data/wait_for.h"

namespace symnas::fs {

Status FileTokens::publish_foreign(Ino ino) {
  if (context_.tokens == nullptr || context_.membership->is_sole()) return {};
  const RunningOperation running(context_.running);
  // While a token is being erased, other mounts may have replaced what memory has.
  if (const FilePtr known = table_.find(ino)) static_cast<void>(wait_for(dropped_flag(*known)));
  const TokenSight sight = context_.tokens->sight(ino);
  if (sight.complete && !sight.foreign_exclusive) return {};
  const FilePtr f = table_.file(ino);
  Status published = wait_for(publish(*f));
  table_.forget_unused(f);
  return published;
}

// A caller that comes while a publish is under way shares the next one: what it asks for may have
// been acknowledged after the present one was answered.
Task<Status> FileTokens::publish(FileState& f) {
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

Detached FileTokens::publish_runner(FilePtr f) {
  const RunningOperation running(context_.running);
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
  table_.forget_unused(f);
}

Task<Status> FileTokens::ask_to_publish(Ino ino) {
  std::optional<Revision> asked;
  for (;;) {
    if (context_.closing) co_return tl::unexpected(closing());
    const TokenSight sight = context_.tokens->sight(ino);
    const bool mine = sight.want && sight.want->mount == context_.options.mount;
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

std::optional<Overlay::ForeignWrites> FileTokens::foreign_writes(Ino ino) {
  if (context_.tokens == nullptr || context_.membership->is_sole()) return std::nullopt;
  const TokenSight sight = context_.tokens->sight(ino);
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
  out.time_ns = context_.session.stamp_time_ns() + looks_.n;
  return out;
}

void FileTokens::turned_sole() {
  table_.for_each([this](FileState& f) {
    const MutexLock lock(f.mutex);
    if (f.loaded && !f.removed && f.token.mode == TokenMode::kNone &&
        f.flag.state() == WriteFlag::State::kClear) {
      loader_.forget_map(f);
    }
  });
}

Task<Status> FileTokens::record_acknowledged(FileState& f) {
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
  if (known) committed = co_await committer_.commit_file(f, DropFlag::kMay);
  leave_shared(f);
  co_return committed;
}

}  // namespace symnas::fs
