// AppliedWaiters: actions that wait until the watch has applied a revision, or until the cache has
// been dropped (it then holds nothing old, which serves as well).
//
// Thread class: thread-safe. Actions run on the caller of advance(), or of wait_for() when there is
// nothing to wait for, with no lock held.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "common/base/ids.h"

namespace symnas::kv {

class AppliedWaiters {
 public:
  void wait_for(Revision revision, std::function<void()> action);
  // The watch has applied everything up to `applied`.
  void advance(Revision applied);
  // The cache is empty, and stays empty until follow(). The caller runs the returned actions with
  // no lock held.
  std::vector<std::function<void()>> drop();
  // The cache takes facts again; the watch has applied everything up to `applied`.
  void follow(Revision applied);

 private:
  std::mutex mutex_;
  std::multimap<Revision, std::function<void()>> waiting_;
  Revision applied_;
  bool following_ = false;
};

}  // namespace symnas::kv
