// Files in use when a mount closes, and what its successor fetches of them before anybody asks:
// clients that have waited for a move do not wait for the first look at each file as well.
#include <algorithm>
#include <utility>

#include "fsal_cluster/data/engine.h"

namespace symnas::fs {

std::vector<records::FileInUse> Engine::files_in_use() {
  std::vector<Ino> inos;
  {
    const std::scoped_lock lock(attention_mutex_);
    inos.assign(attention_.begin(), attention_.end());
  }
  std::vector<std::pair<std::int64_t, records::FileInUse>> found;
  for (const Ino ino : inos) {
    const FilePtr f = find_file(ino);
    if (!f) continue;
    const std::scoped_lock lock(f->mutex);
    if (!f->loaded || f->removed) continue;
    records::FileInUse file;
    file.set_ino(ino.value());
    file.set_generation(f->generation.value());
    file.set_token(f->token != TokenMode::kNone);
    file.set_wrote(f->flag.state() == WriteFlag::State::kSet);
    found.emplace_back(std::max(f->last_read_ns, f->last_write_ns), std::move(file));
  }
  std::ranges::sort(found, std::ranges::greater(), [](const auto& one) { return one.first; });
  if (found.size() > kFilesInUseMax) found.resize(kFilesInUseMax);
  std::vector<records::FileInUse> out;
  for (auto& [used_ns, file] : found) out.push_back(std::move(file));
  return out;
}

void Engine::fetch(const std::vector<records::FileInUse>& files) {
  for (const records::FileInUse& file : files) fetch_file(file);
}

// As a READ or WRITE does before its first byte, but takes nothing from anybody: whoever has a
// token meanwhile needs it.
Detached Engine::fetch_file(records::FileInUse file) {
  const RunningOperation running(*this);
  const Handle handle{options_.fs, Ino{file.ino()}, Generation{file.generation()}};
  const FilePtr f = this->file(handle.ino);
  const Membership::Stay stay = membership_->enter();
  const TokenMode mode = TokenMode::kShared;
  Status ready;
  if (!stay.sole() && file.token()) {
    const TokenSight sight = tokens_->sight(handle.ino);
    if (next_grant_step(sight, options_.mount, mode) != GrantStep::kGrant) {
      forget_unused(f);
      co_return;
    }
    const TokenUse use = file.wrote() ? TokenUse::kWrite : TokenUse::kRead;
    ready = co_await obtain_token(*f, mode, use);
  }
  Turn turn;
  if (ready) ready = co_await enter_shared(*f, handle, turn);
  if (!ready) {
    forget_unused(f);
    co_return;
  }
  Status loaded;
  if (stay.sole() || file.token()) loaded = co_await load_chunks(*f, 0, 1);
  leave_shared(*f);
}

}  // namespace symnas::fs
