// AppliedWaiters: actions that wait until the watch has applied a revision, or until the cache has
// been dropped (it then holds nothing old, which serves as well).
//
// Thread class: thread-safe. Actions run on the caller of advance(), or of wait_for() when there is
// nothing to wait for, with no lock held.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"

namespace symnas::kv {

class AppliedWaiters {
 public:
  // While the cache is shut `action` runs at once.
  void wait_for(Revision revision, std::function<void()> action);
  // The watch has applied everything up to `applied`.
  void advance(Revision applied);
  // The cache is empty, and stays empty until follow(). The caller runs the returned actions with
  // no lock held.
  std::vector<std::function<void()>> drop();
  // A barrier for this stamp is about to wait; while the cache is shut the barrier will pass
  // without waiting.
  void note_barrier(Revision stamp);
  // The cache takes facts again; the watch stands at `applied`. Returns the newest stamp of the
  // barriers that have passed while the cache was shut: nothing older may be relied on.
  Revision follow(Revision applied);

 private:
  Mutex mutex_;
  std::multimap<Revision, std::function<void()>> waiting_ GUARDED_BY(mutex_);
  Revision applied_ GUARDED_BY(mutex_);
  Revision passed_ GUARDED_BY(mutex_);  // stamps of barriers while not following
  bool following_ GUARDED_BY(mutex_) = false;
};

}  // namespace symnas::kv
