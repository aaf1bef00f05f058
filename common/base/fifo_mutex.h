// FifoMutex: a mutex whose waiters get it in the order in which they came. It is for work that
// holds the mutex across a round trip to a store: with std::mutex, a thread that does many such
// pieces in a row can take it again and again while others wait. Thread-safe. BasicLockable.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

namespace symnas {

class FifoMutex {
 public:
  void lock() {
    std::unique_lock lock(mutex_);
    if (!held_) {
      held_ = true;
      return;
    }
    Waiter me;
    waiters_.push_back(&me);
    me.turn.wait(lock, [&me] { return me.its_turn; });
  }
  // REQUIRES: held by this thread.
  void unlock() {
    const std::scoped_lock lock(mutex_);
    if (waiters_.empty()) {
      held_ = false;
      return;
    }
    Waiter& next = *waiters_.front();
    waiters_.pop_front();
    next.its_turn = true;
    next.turn.notify_one();  // under the mutex: the waiter may be destroyed once the mutex is free
  }

 private:
  struct Waiter {
    std::condition_variable turn;
    bool its_turn = false;
  };
  std::mutex mutex_;
  bool held_ = false;
  std::deque<Waiter*> waiters_;
};

}  // namespace symnas
