// FifoMutex: a mutex whose waiters get it in the order in which they came. For work that holds the
// mutex across a round trip to a store: with Mutex, a thread that does many pieces of such work in
// a row can take the mutex again and again while others wait. Thread-safe. Held by a MutexLock.
#pragma once

#include <deque>

#include "common/base/thread_annotations.h"

namespace symnas {

class CAPABILITY("mutex") FifoMutex {
 public:
  // Each calls a second function, because the analysis does not look into functions that are marked
  // ACQUIRE or RELEASE.
  void lock() ACQUIRE() { take(); }
  void unlock() RELEASE() { pass_on(); }

 private:
  struct Waiter {
    CondVar turn;
    bool its_turn = false;  // under mutex_
  };

  void take() {
    const MutexLock lock(mutex_);
    if (!held_) {
      held_ = true;
      return;
    }
    Waiter me;
    waiters_.push_back(&me);
    me.turn.wait(mutex_, [&me] { return me.its_turn; });
  }
  void pass_on() {
    const MutexLock lock(mutex_);
    if (waiters_.empty()) {
      held_ = false;
      return;
    }
    Waiter& next = *waiters_.front();
    waiters_.pop_front();
    next.its_turn = true;
    next.turn.notify_one();  // under the mutex: the waiter may be destroyed once the mutex is free
  }

  Mutex mutex_;
  bool held_ GUARDED_BY(mutex_) = false;
  std::deque<Waiter*> waiters_ GUARDED_BY(mutex_);
};

}  // namespace symnas
