#include "fsal_cluster/data/files_in_use.h"

#include <algorithm>
#include <utility>

namespace symnas::fs {

std::vector<records::FileInUse> FilesInUse::files_in_use() {
  std::vector<std::pair<std::int64_t, records::FileInUse>> found;
  for (const Ino ino : context_.attention.files()) {
    const FilePtr f = table_.find(ino);
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

void FilesInUse::fetch(const std::vector<records::FileInUse>& files) {
  for (const records::FileInUse& file : files) fetch_file(file);
}

// Fetches what the first READ waits for, and most of what the first WRITE waits for: not the write
// flag, because that would change the times of a file that nobody writes to.
Detached FilesInUse::fetch_file(records::FileInUse file) {
  const RunningOperation running(context_.running);
  if (!context_.running.begin_fetch()) co_return;
  const Handle handle{context_.options.fs, Ino{file.ino()}, Generation{file.generation()}};
  const FilePtr f = table_.file(handle.ino);
  {
    const Membership::Stay stay = context_.membership->enter();
    if (!stay.sole() && file.token()) co_await tokens_.take_free_token(*f, file.wrote());
    Turn turn;
    const Status entered = co_await loader_.enter_shared(*f, handle, turn);
    if (entered) {
      Attempt attempt;
      attempt.sole = stay.sole();
      bool sure = attempt.sole;
      {
        const MutexLock lock(f->mutex);
        sure = sure || f->token.mode != TokenMode::kNone;
      }
      Attempt* const tokenless = attempt.sole ? nullptr : &attempt;
      if (sure) static_cast<void>(co_await loader_.load_chunks(*f, 0, 1, tokenless));
      leave_shared(*f);
    }
  }
  table_.forget_unused(f);
  context_.running.end_fetch();
}

}  // namespace symnas::fs
