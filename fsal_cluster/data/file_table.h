// FileTable: which files the mount knows. It makes a FileState when a file is first asked for, and
// forgets those that hold nothing but what the records say.
//
// Thread class: thread-safe. Locks: Shard::mutex -> FileState::mutex; nothing else is called under
// them but what for_each() is given.
// Invariants: an inode has one FileState as long as anybody refers to it, or memory knows something
// of it that no record has; it has at most about kFileStatesMax others.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"
#include "fsal_cluster/data/file_state.h"
#include "fsal_cluster/data/limits.h"

namespace symnas::fs {

class FileTable {
 public:
  explicit FileTable(std::uint64_t group_blocks) : group_blocks_(group_blocks) {}

  // The file of that number; a new one, not loaded, if none is known.
  FilePtr file(Ino ino);
  FilePtr find(Ino ino);  // null: not known
  // Removes a file that could not be loaded (a stale handle), unless somebody else refers to it or
  // it is in use.
  void forget_unused(const FilePtr& f);
  // Calls `visit` for each file, with the mutex of its shard held.
  void for_each(const std::function<void(FileState&)>& visit);
  // A number that no version of any file has had (FileState::version).
  std::uint64_t next_version() { return next_version_.fetch_add(1); }

 private:
  struct Shard {
    Mutex mutex;
    std::unordered_map<Ino, FilePtr> files GUARDED_BY(mutex);
  };
  Shard& shard_of(Ino ino) { return shards_[std::hash<Ino>{}(ino) % kFileTableShards]; }
  void evict_idle();

  const std::uint64_t group_blocks_;
  std::array<Shard, kFileTableShards> shards_;
  std::atomic<std::size_t> file_count_{0};
  std::atomic<std::size_t> next_shard_{0};  // whose idle files go next
  std::atomic<std::uint64_t> next_version_{1};
};

}  // namespace symnas::fs
