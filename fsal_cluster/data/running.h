// Running: what is under way in the data path, so that its end can be waited for: operations,
// fetches of files that a predecessor had in use, erases of unused tokens. Thread-safe; the mutex
// is a leaf.
#pragma once

#include <cstdint>

#include "common/base/thread_annotations.h"

namespace symnas::fs {

class Running {
 public:
  void begin_operation();
  void end_operation();
  void begin_erase();
  void end_erase();
  bool begin_fetch();  // false: no fetch may begin any more
  void end_fetch();

  // Each blocks until none of its kind runs.
  void wait_for_operations();
  void wait_for_erases();
  // No fetch begins after this call.
  void stop_fetching();

 private:
  Mutex mutex_;
  CondVar ended_;
  std::uint64_t operations_ GUARDED_BY(mutex_) = 0;
  std::uint64_t fetches_ GUARDED_BY(mutex_) = 0;
  std::uint64_t erases_ GUARDED_BY(mutex_) = 0;
  bool fetching_stopped_ GUARDED_BY(mutex_) = false;
};

// Counts an operation, so that DataPath's destructor waits for it. First local of every Detached
// coroutine.
class RunningOperation {
 public:
  explicit RunningOperation(Running& running) : running_(running) { running_.begin_operation(); }
  ~RunningOperation() { running_.end_operation(); }
  RunningOperation(const RunningOperation&) = delete;
  RunningOperation& operator=(const RunningOperation&) = delete;

 private:
  Running& running_;
};

// Counts an erase of unused tokens: while it lives they are neither among the created ones nor
// among the files that need attention.
class RunningErase {
 public:
  explicit RunningErase(Running& running) : running_(running) { running_.begin_erase(); }
  ~RunningErase() { running_.end_erase(); }
  RunningErase(const RunningErase&) = delete;
  RunningErase& operator=(const RunningErase&) = delete;

 private:
  Running& running_;
};

}  // namespace symnas::fs
