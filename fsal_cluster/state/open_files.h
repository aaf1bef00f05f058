// OpenFiles: which inodes this process holds open. An inode that loses its last link while it is
// open lives on, without a name, until the last close.
//
// Thread class: thread-safe. opened() waits while the removal of that inode's last link is being
// decided; closed() never waits: a close that comes then counts at the end of the removal.
// Invariant: between begin_removal() and the end of its Removal the open count of the inode does
// not change.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"

namespace symnas::fs {

class OpenFiles {
 public:
  // Counts one more open. REQUIRES: afterwards the caller looks whether the inode (still) exists.
  void opened(Ino ino);

  bool is_open(Ino ino) const;
  // Whether an inode without links lives on for those that have it open here: it lost its last link
  // while it was open, or its removal is being decided.
  bool keeps(Ino ino) const;

  enum class Closed { kStillNeeded, kLastOfOrphan };
  // Counts one open less. kLastOfOrphan: nothing holds the nameless inode any more; the caller
  // removes it, or has it removed. Never waits.
  Closed closed(Ino ino);

  // Freezes an inode's open count while the transaction that takes its last link runs.
  class Removal {
   public:
    Removal(Removal&& other) noexcept
        : files_(std::exchange(other.files_, nullptr)), ino_(other.ino_), open_(other.open_) {}
    Removal& operator=(Removal&&) = delete;
    ~Removal() {
      if (files_ != nullptr) files_->end_removal(ino_, Outcome::kUndone);
    }
    bool open() const { return open_; }
    // The transaction has left the inode without a name for those that have it open. kLastOfOrphan:
    // all of them have closed it meanwhile; as for closed(). REQUIRES: open().
    Closed orphaned() {
      return std::exchange(files_, nullptr)->end_removal(ino_, Outcome::kOrphaned);
    }

   private:
    friend class OpenFiles;
    Removal(OpenFiles& files, Ino ino, bool open) : files_(&files), ino_(ino), open_(open) {}
    OpenFiles* files_;
    Ino ino_;
    bool open_;
  };
  // Waits until another removal of the same inode has ended.
  Removal begin_removal(Ino ino);

 private:
  enum class Outcome { kUndone, kOrphaned };
  struct Entry {
    std::uint64_t opens = 0;
    std::uint64_t late_closes = 0;  // came while removing
    bool removing = false;
    bool orphan = false;
  };
  Closed end_removal(Ino ino, Outcome outcome);
  // Waits until no removal is running; the mutex is free meanwhile.
  Entry& settled(Ino ino) REQUIRES(mutex_);
  void forget_if_idle(Ino ino) REQUIRES(mutex_);

  mutable Mutex mutex_;
  CondVar settled_;
  // Only inodes that are open or being removed.
  std::unordered_map<Ino, Entry> entries_ GUARDED_BY(mutex_);
};

}  // namespace symnas::fs
