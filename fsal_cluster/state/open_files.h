// OpenFiles: which inodes this process holds open. An inode whose last link goes while it is open
// lives on, without a name, until the last close.
//
// Thread class: thread-safe. opened() waits while the removal of that inode's last link is being
// decided; closed() never waits: a close that comes then counts at the end of the removal.
// Invariant: between begin_removal() and the end of its Removal the open count of the inode does
// not change.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "common/base/ids.h"

namespace symnas::fs {

class OpenFiles {
 public:
  // One more open. REQUIRES: the caller looks afterwards whether the inode (still) exists.
  void opened(Ino ino);

  bool is_open(Ino ino) const;
  // Whether an inode without links lives on for who has it open here: its last link went while it
  // was open, or its removal is being decided.
  bool keeps(Ino ino) const;

  enum class Closed { kStillNeeded, kLastOfOrphan };
  // One less. kLastOfOrphan: nothing holds the nameless inode any more; the caller removes it, or
  // has it removed. Never waits.
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
    // The transaction left an inode without a name for the openers. kLastOfOrphan: all of them have
    // closed it meanwhile; as of closed(). REQUIRES: open().
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
  // Waits for another removal of the same inode.
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
  // REQUIRES: the lock is held; returns with it held, and no removal running.
  Entry& settled(std::unique_lock<std::mutex>& lock, Ino ino);
  void forget_if_idle(Ino ino);

  mutable std::mutex mutex_;
  std::condition_variable settled_;
  std::unordered_map<Ino, Entry>
      entries_;  // guarded by mutex_; only inodes that are open or being removed
};

}  // namespace symnas::fs
