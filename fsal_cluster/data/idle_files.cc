#include "fsal_cluster/data/idle_files.h"

#include <algorithm>
#include <future>
#include <memory>
#include <utility>

namespace symnas::fs {

void IdleFiles::arm_tick() {
  context_.background->post_at(context_.clock.mono_ns() + kTickNs, [this] {
    if (context_.closing) return;
    tick();
    arm_tick();
  });
}

void IdleFiles::tick() {
  const std::int64_t now_ns = context_.clock.mono_ns();
  for (const Ino ino : context_.attention.files()) {
    const FilePtr f = table_.find(ino);
    if (f) {
      attend(f, now_ns);
    } else {
      context_.attention.remove(ino);
    }
  }
  flags_.erase_unused_tokens(now_ns - kWriteFlagHoldNs, nullptr);
}

void IdleFiles::attend(const FilePtr& f, std::int64_t now_ns) {
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
        trim_reservations(context_, *f);
        const bool clear = f->flag.state() == WriteFlag::State::kClear;
        if (clear && f->token.mode != TokenMode::kNone) {
          give_back = now_ns >= std::max(f->writes.last_ns, f->reads.last_ns) + kTokenIdleNs;
        } else if (f->map.reserved_blocks() == 0 && clear) {
          f->listed = false;
          context_.attention.remove(f->ino);
          return;
        }
      }
    } else if (quiet && set && f->has_growth() && now_ns >= f->writes.last_ns + kIdleNs) {
      start = true;  // a steady writer: the flag stays, but the data is committed
    }
    if (start && !f->unrecorded.dirty && !set && !f->has_growth()) start = false;
  }
  if (start && !context_.closing) committer_.commit_idle(f, DropFlag::kMust, nullptr);
  if (give_back && !context_.closing) tokens_.return_token(f, nullptr);
}

bool IdleFiles::return_reservations() {
  bool held = false;
  for (const Ino ino : context_.attention.files()) {
    const FilePtr f = table_.find(ino);
    if (!f) continue;
    bool commit = false;
    {
      const MutexLock lock(f->mutex);
      if (!f->loaded || f->map.reserved_blocks() == 0) continue;
      if (f->writes.running == 0 && !f->commits.running) trim_reservations(context_, *f);
      if (f->map.reserved_blocks() == 0) continue;
      if (f->writes.want_room > 0 && f->writes.want_room == f->writes.running)
        continue;  // its writers wait for space
      held = true;
      commit = f->writes.running == 0 && !f->commits.running && f->has_growth();
    }
    if (commit && !context_.closing) committer_.commit_idle(f, DropFlag::kMay, nullptr);
  }
  return held;
}

std::vector<FilePtr> IdleFiles::files_with_tokens() {
  std::vector<FilePtr> out;
  for (const Ino ino : context_.attention.files()) {
    FilePtr f = table_.find(ino);
    if (!f) continue;
    const MutexLock lock(f->mutex);
    if (f->token.mode != TokenMode::kNone) out.push_back(f);
  }
  for (const AttentionList::CreatedToken& one : context_.attention.take_created(INT64_MAX))
    out.push_back(table_.file(one.ino));
  return out;
}

Status IdleFiles::flush_all() {
  std::vector<std::future<Status>> answers;
  const auto expect = [&answers]() -> StatusCallback {
    const auto promise = std::make_shared<std::promise<Status>>();
    answers.push_back(promise->get_future());
    return [promise](Status status) { promise->set_value(std::move(status)); };
  };
  flags_.erase_unused_tokens(INT64_MAX, expect());
  for (const Ino ino : context_.attention.files()) {
    FilePtr f = table_.find(ino);
    if (!f) continue;
    bool nothing_to_record = false;
    {
      const MutexLock lock(f->mutex);
      nothing_to_record = f->token.mode != TokenMode::kNone && !f->unrecorded.dirty &&
                          !f->has_growth() && f->flag.state() == WriteFlag::State::kClear;
    }
    if (nothing_to_record) {
      tokens_.return_token(std::move(f), expect());
    } else {
      committer_.commit_idle(std::move(f), DropFlag::kMust, expect());
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
    context_.running.wait_for_erases();  // files whose erase failed are listed then
    const std::vector<FilePtr> left = files_with_tokens();
    if (left.empty()) break;
    for (const FilePtr& f : left) tokens_.return_token(f, expect());
    collect();
  }
  return first;
}

}  // namespace symnas::fs
