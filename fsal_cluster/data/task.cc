#include "fsal_cluster/data/task.h"

#include <deque>

namespace symnas::fs {

void resume_here(std::coroutine_handle<> coroutine) {
  thread_local std::deque<std::coroutine_handle<>> queue;
  thread_local bool running = false;
  queue.push_back(coroutine);
  if (running) return;
  running = true;
  while (!queue.empty()) {
    const auto next = queue.front();
    queue.pop_front();
    next.resume();
  }
  running = false;
}

}  // namespace symnas::fs
