#include "fsal_cluster/data/file_table.h"

namespace symnas::fs {

FilePtr FileTable::file(Ino ino) {
  if (file_count_.load(std::memory_order_relaxed) >= kFileStatesMax) evict_idle();
  Shard& shard = shard_of(ino);
  const MutexLock lock(shard.mutex);
  FilePtr& entry = shard.files[ino];
  if (!entry) {
    entry = std::make_shared<FileState>(ino, group_blocks_, next_version());
    file_count_.fetch_add(1, std::memory_order_relaxed);
  }
  return entry;
}

FilePtr FileTable::find(Ino ino) {
  Shard& shard = shard_of(ino);
  const MutexLock lock(shard.mutex);
  const auto it = shard.files.find(ino);
  return it == shard.files.end() ? nullptr : it->second;
}

// Forgets files that nobody refers to, and of which memory holds nothing but what the records say.
void FileTable::evict_idle() {
  Shard& shard = shards_[next_shard_.fetch_add(1) % kFileTableShards];
  const MutexLock lock(shard.mutex);
  const std::size_t before = shard.files.size();
  std::erase_if(shard.files, [](const auto& entry) {
    if (entry.second.use_count() > 1)
      return false;  // only an operation that holds it could change it
    FileState& f = *entry.second;
    const MutexLock file_lock(f.mutex);
    return !f.listed && !f.unrecorded.dirty && f.flag.state() == WriteFlag::State::kClear;
  });
  file_count_.fetch_sub(before - shard.files.size(), std::memory_order_relaxed);
}

void FileTable::forget_unused(const FilePtr& f) {
  Shard& shard = shard_of(f->ino);
  const MutexLock lock(shard.mutex);
  const auto it = shard.files.find(f->ino);
  if (it == shard.files.end() || it->second != f || f.use_count() > 2) return;
  {
    const MutexLock file_lock(f->mutex);
    const bool used = f->loaded || f->listed || f->flag.state() != WriteFlag::State::kClear;
    if (used && !f->removed) return;
  }
  shard.files.erase(it);
  file_count_.fetch_sub(1, std::memory_order_relaxed);
}

void FileTable::for_each(const std::function<void(FileState&)>& visit) {
  for (Shard& shard : shards_) {
    const MutexLock lock(shard.mutex);
    for (auto& [ino, f] : shard.files) visit(*f);
  }
}

}  // namespace symnas::fs
