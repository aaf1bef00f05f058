#include "fsal_cluster/state/open_files.h"

#include <utility>

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

bool OpenFiles::is_open(Ino ino) const {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(ino);
  return found != entries_.end() && found->second.opens > found->second.late_closes;
}

bool OpenFiles::keeps(Ino ino) const {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(ino);
  if (found == entries_.end() || found->second.opens == 0) return false;
  return found->second.orphan || found->second.removing;
}

OpenFiles::Closed OpenFiles::closed(Ino ino) {
  const std::scoped_lock lock(mutex_);
  Entry& entry = entries_[ino];
  CHECK(entry.opens > entry.late_closes, "every close follows its open");
  if (entry.removing) {
    ++entry.late_closes;
    return Closed::kStillNeeded;
  }
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

OpenFiles::Closed OpenFiles::end_removal(Ino ino, Outcome outcome) {
  bool last_of_orphan = false;
  {
    const std::scoped_lock lock(mutex_);
    Entry& entry = entries_[ino];
    entry.removing = false;
    if (outcome == Outcome::kOrphaned) {
      CHECK(entry.opens > 0, "only an open inode outlives its last link");
      entry.orphan = true;
    }
    last_of_orphan = entry.orphan && entry.late_closes > 0 && entry.opens == entry.late_closes;
    entry.opens -= std::exchange(entry.late_closes, 0);
    forget_if_idle(ino);
  }
  settled_.notify_all();
  return last_of_orphan ? Closed::kLastOfOrphan : Closed::kStillNeeded;
}

}  // namespace symnas::fs
