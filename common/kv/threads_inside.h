// ThreadsInside: counts the threads that run code of an object, so that the object's owner can wait
// until the last of them has left.
//
// Thread class: thread-safe. The counter must outlive every thread inside, including that thread's
// call of leave(): keep the counter in shared state.
#pragma once

#include <atomic>

namespace symnas::kv {

class ThreadsInside {
 public:
  void enter() { count_.fetch_add(1); }
  void leave() {
    if (count_.fetch_sub(1) == 1) count_.notify_all();
  }
  void wait_until_empty() {
    for (int count = count_.load(); count != 0; count = count_.load()) count_.wait(count);
  }

 private:
  std::atomic<int> count_{0};
};

}  // namespace symnas::kv
