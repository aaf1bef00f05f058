#include "fsal_cluster/state/open_files.h"

#include "common/base/check.h"

namespace symnas::fs {

OpenFiles::Entry& OpenFiles::settled(std::unique_lock<std::mutex>& lock, Ino ino) {
  settled_.wait(lock, [&] { return !entries_[ino].removing; });
  return entries_[ino];
}

void OpenFiles::forget_if_idle(Ino ino) {
  const auto found = entries_.find(ino);
  if (found != entries_.end() && found->second.opens == 0 && !found->second.removing)
    entries_.erase(found);
}

void OpenFiles::opened(Ino ino) {
  std::unique_lock lock(mutex_);
  ++settled(lock, ino).opens;
}

OpenFiles::Closed OpenFiles::closed(Ino ino) {
  std::unique_lock lock(mutex_);
  Entry& entry = settled(lock, ino);
  CHECK(entry.opens > 0, "every close follows its open");
  --entry.opens;
  const bool last_of_orphan = entry.opens == 0 && entry.orphan;
  forget_if_idle(ino);
  return last_of_orphan ? Closed::kLastOfOrphan : Closed::kStillNeeded;
}

OpenFiles::Removal OpenFiles::begin_removal(Ino ino) {
  std::unique_lock lock(mutex_);
  Entry& entry = settled(lock, ino);
  entry.removing = true;
  return Removal(*this, ino, entry.opens > 0);
}

void OpenFiles::end_removal(Ino ino, Outcome outcome) {
  {
    const std::scoped_lock lock(mutex_);
    Entry& entry = entries_[ino];
    entry.removing = false;
    if (outcome == Outcome::kOrphaned) {
      CHECK(entry.opens > 0, "only an open inode outlives its last link");
      entry.orphan = true;
    }
    forget_if_idle(ino);
  }
  settled_.notify_all();
}

}  // namespace symnas::fs
