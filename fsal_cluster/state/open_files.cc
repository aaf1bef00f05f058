#include "fsal_cluster/state/open_files.h"

#include <utility>

#include "common/base/check.h"

namespace symnas::fs {

OpenFiles::Entry& OpenFiles::settled(Ino ino) {
  settled_.wait(mutex_, [&]() REQUIRES(mutex_) { return !entries_[ino].removing; });
  return entries_[ino];
}

void OpenFiles::forget_if_idle(Ino ino) {
  const auto found = entries_.find(ino);
  if (found != entries_.end() && found->second.opens == 0 && !found->second.removing)
    entries_.erase(found);
}

void OpenFiles::opened(Ino ino) {
  const MutexLock lock(mutex_);
  ++settled(ino).opens;
}

bool OpenFiles::is_open(Ino ino) const {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(ino);
  return found != entries_.end() && found->second.opens > found->second.late_closes;
}

bool OpenFiles::keeps(Ino ino) const {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(ino);
  if (found == entries_.end() || found->second.opens == 0) return false;
  return found->second.orphan || found->second.removing;
}

OpenFiles::Closed OpenFiles::closed(Ino ino) {
  const MutexLock lock(mutex_);
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
  const MutexLock lock(mutex_);
  Entry& entry = settled(ino);
  entry.removing = true;
  return Removal(*this, ino, entry.opens > 0);
}

OpenFiles::Closed OpenFiles::end_removal(Ino ino, Outcome outcome) {
  bool last_of_orphan = false;
  {
    const MutexLock lock(mutex_);
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
