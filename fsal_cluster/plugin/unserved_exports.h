// UnservedExports: exports of the VNFS whose filesystems this instance has not mounted (yet), so
// that it does not know who holds locks there. Thread-safe; its mutex is a leaf.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "common/base/thread_annotations.h"

namespace symnas::plugin {

class UnservedExports {
 public:
  // Exactly these exports are to be served. REQUIRES: none is served yet.
  void begin(std::set<std::uint16_t> ids) {
    const MutexLock lock(mutex_);
    unserved_ = std::move(ids);
  }
  // The export is to be served. One that is served already stays so, however it is changed.
  void wanted(std::uint16_t id) {
    const MutexLock lock(mutex_);
    if (!served_.contains(id)) unserved_.insert(id);
  }
  // The export's filesystem is mounted.
  void served(std::uint16_t id) {
    const MutexLock lock(mutex_);
    unserved_.erase(id);
    served_.insert(id);
  }
  void removed(std::uint16_t id) {
    const MutexLock lock(mutex_);
    unserved_.erase(id);
    served_.erase(id);
  }
  bool any() const {
    const MutexLock lock(mutex_);
    return !unserved_.empty();
  }

 private:
  mutable Mutex mutex_;
  std::set<std::uint16_t> unserved_ GUARDED_BY(mutex_);
  std::set<std::uint16_t> served_ GUARDED_BY(mutex_);
};

}  // namespace symnas::plugin
