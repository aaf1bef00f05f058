// Waiting: a thread tells its pool that it waits for something outside of the process, so that
// another thread may work meanwhile. The pool lends two functions; without one nothing happens.
//
// Thread class: thread-safe. Nested ones count as one.
#pragma once

#include <chrono>
#include <future>

namespace symnas {

struct WaitHooks {
  void (*begin)() = nullptr;
  void (*end)() = nullptr;
};
// Once. A Waiting that exists meanwhile goes unnoticed.
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
