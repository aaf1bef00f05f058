// wait_for(): runs a Task from code that is no coroutine.
#pragma once

#include <future>
#include <memory>
#include <utility>

#include "common/base/waiting.h"
#include "fsal_cluster/data/task.h"

namespace symnas::fs {

template <class T>
Detached deliver_to(Task<T> task, std::shared_ptr<std::promise<T>> promise) {
  promise->set_value(co_await task);
}
// Blocks until the task has an answer. REQUIRES: not on a callback thread.
template <class T>
T wait_for(Task<T> task) {
  const auto promise = std::make_shared<std::promise<T>>();
  auto answer = promise->get_future();
  deliver_to(std::move(task), promise);
  return wait_and_get(std::move(answer));
}

}  // namespace symnas::fs
