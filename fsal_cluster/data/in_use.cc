// Files in use when a mount closes, and what its successor fetches of them before a request comes:
// clients that have waited for a move do not wait for the first read of each file's records as
// well.
#include <algorithm>
#include <utility>

#include "fsal_cluster/data/data_path.h"

namespace symnas::fs {

std::vector<records::FileInUse> DataPath::files_in_use() {
  std::vector<std::pair<std::int64_t, records::FileInUse>> found;
  for (const Ino ino : attention_.files()) {
    const FilePtr f = find_file(ino);
    if (!f) continue;
    const MutexLock lock(f->mutex);
    if (!f->loaded || f->removed) continue;
    records::FileInUse file;
    file.set_ino(ino.value());
    file.set_generation(f->record.generation.value());
    file.set_token(f->token.mode != TokenMode::kNone);
    file.set_wrote(f->flag.state() == WriteFlag::State::kSet);
    found.emplace_back(std::max(f->reads.last_ns, f->writes.last_ns), std::move(file));
  }
  std::ranges::sort(found, std::ranges::greater(), [](const auto& one) { return one.first; });
  if (found.size() > kFilesInUseMax) found.resize(kFilesInUseMax);
  std::vector<records::FileInUse> out;
  for (auto& [used_ns, file] : found) out.push_back(std::move(file));
  return out;
}

void DataPath::fetch(const std::vector<records::FileInUse>& files) {
  for (const records::FileInUse& file : files) fetch_file(file);
}

void DataPath::stop_fetching() { running_.stop_fetching(); }

// Fetches what the first READ waits for, and most of what the first WRITE waits for: not the write
// flag, because that would change the times of a file that nobody writes to.
Detached DataPath::fetch_file(records::FileInUse file) {
  const RunningOperation running(running_);
  if (!running_.begin_fetch()) co_return;
  const Handle handle{options_.fs, Ino{file.ino()}, Generation{file.generation()}};
  const FilePtr f = this->file(handle.ino);
  {
    const Membership::Stay stay = membership_->enter();
    if (!stay.sole() && file.token()) co_await take_free_token(*f, file.wrote());
    Turn turn;
    const Status entered = co_await enter_shared(*f, handle, turn);
    if (entered) {
      Attempt attempt;
      attempt.sole = stay.sole();
      bool sure = attempt.sole;
      {
        const MutexLock lock(f->mutex);
        sure = sure || f->token.mode != TokenMode::kNone;
      }
      Attempt* const tokenless = attempt.sole ? nullptr : &attempt;
      if (sure) static_cast<void>(co_await load_chunks(*f, 0, 1, tokenless));
      leave_shared(*f);
    }
  }
  forget_unused(f);
  running_.end_fetch();
}

// One try, and only if no other mount has or wants a token: none is taken from another mount.
Task<Woken> DataPath::take_free_token(FileState& f, bool alone) {
  const TokenSight sight = tokens_->sight(f.ino);
  const TokenMode mode = alone ? TokenMode::kExclusive : TokenMode::kShared;
  if (!sight.complete || sight.foreign || sight.want) co_return Woken{};
  {
    const MutexLock lock(f.mutex);
    if (f.removed || f.token.mode != TokenMode::kNone || f.token.wanted) co_return Woken{};
    f.token.wanted = true;
  }
  static_cast<void>(co_await grant_token(f, sight, mode, TokenUse::kRead));
  std::vector<WaiterId> waiters;
  {
    const MutexLock lock(f.mutex);
    f.token.wanted = false;
    waiters.swap(f.token.waiters);
  }
  wake(waiters);
  co_return Woken{};
}

}  // namespace symnas::fs
