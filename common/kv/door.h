// Door: counts the threads that are inside, so that the owner can wait until the last one has left.
//
// Thread class: thread-safe. A Door must outlive every thread inside, including its call of
// leave(): keep it in shared state.
#pragma once

#include <atomic>

namespace symnas::kv {

class Door {
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
