// Waiting: tells the thread pool of the calling thread that this thread waits for something outside
// the process, so that the pool lets another thread work meanwhile. The pool sets two hooks;
// without them a Waiting does nothing.
//
// Thread class: thread-safe. Nested Waitings of a thread count as one.
#pragma once

#include <chrono>
#include <future>

namespace symnas {

struct WaitHooks {
  void (*begin)() = nullptr;
  void (*end)() = nullptr;
};
// To be called once. A Waiting that already exists at that moment does not call the hooks.
void set_wait_hooks(const WaitHooks& hooks);

class Waiting {
 public:
  Waiting();
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

template <class T>
T wait_and_get(std::future<T> future) {
  if (future.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    const Waiting waiting;
    future.wait();
  }
  return future.get();
}

}  // namespace symnas
