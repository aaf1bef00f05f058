// Coroutines of the data path: straight code that continues on the callbacks of the volume and the
// session.
//
// Task<T>     a part of an operation; starts when awaited, on the awaiting thread.
// Detached    a whole operation; starts at once, destroys itself.
// Awaited<T>  awaits one callback:
//               Awaited<Status> io; volume.flush(io.callback()); Status s = co_await io;
// Join        awaits several callbacks:
//               Join all; volume.write(..., all.callback()); ...; Status s = co_await all;
//
// Thread class: one coroutine runs on one thread at a time; callbacks may come on any thread, also
// before the await. Rules (they keep gcc 12 honest and locks short): no mutex is held over
// co_await; arguments of awaited functions are values or references to named objects, never
// temporaries with destructors.
#pragma once

#include <atomic>
#include <coroutine>
#include <functional>
#include <optional>
#include <utility>

#include "common/base/check.h"
#include "common/base/result.h"
#include "common/base/thread_annotations.h"

namespace symnas::fs {

// Runs the coroutine here. A resumption that comes while a coroutine is running on this thread
// waits for it, so that callbacks that come at once do not nest without bound.
void resume_here(std::coroutine_handle<> coroutine);

struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { check_failed(__FILE__, __LINE__, "no exception", "data path"); }
  };
};

template <class T>
class [[nodiscard]] Task {
 public:
  struct promise_type {
    std::optional<T> value;
    std::coroutine_handle<> waiter;
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        return self.promise().waiter;
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    template <class U>
    void return_value(U&& result) {
      value.emplace(std::forward<U>(result));
    }
    void unhandled_exception() { check_failed(__FILE__, __LINE__, "no exception", "data path"); }
  };

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) noexcept {
    handle_.promise().waiter = waiter;
    return handle_;
  }
  T await_resume() { return std::move(*handle_.promise().value); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

template <class T>
class Awaited {
 public:
  Awaited() = default;
  Awaited(const Awaited&) = delete;
  Awaited& operator=(const Awaited&) = delete;
  // The callback must be called exactly once; the call may come before the await. REQUIRES: this
  // object is awaited, and lives until then.
  std::function<void(T)> callback() {
    return [this](T value) { deliver(std::move(value)); };
  }
  void deliver(T value) {
    value_.emplace(std::move(value));
    if (sides_.fetch_sub(1, std::memory_order_acq_rel) == 1) resume_here(waiter_);
  }
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter) noexcept {
    waiter_ = waiter;
    return sides_.fetch_sub(1, std::memory_order_acq_rel) != 1;
  }
  T await_resume() { return std::move(*value_); }

 private:
  std::optional<T> value_;
  std::coroutine_handle<> waiter_;
  std::atomic<int> sides_{2};
};

class Join {
 public:
  Join() = default;
  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;
  std::function<void(Status)> callback() {
    pending_.fetch_add(1, std::memory_order_relaxed);
    return [this](Status status) {
      if (!status) {
        const MutexLock lock(mutex_);
        if (first_error_) first_error_ = std::move(status);
      }
      if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) resume_here(waiter_);
    };
  }
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter) noexcept {
    waiter_ = waiter;
    return pending_.fetch_sub(1, std::memory_order_acq_rel) != 1;
  }
  Status await_resume() { return std::move(first_error_); }

 private:
  Mutex mutex_;
  // callback() changes it under the mutex; await_resume() takes it when all callbacks have come.
  Status first_error_;
  std::coroutine_handle<> waiter_;
  std::atomic<int> pending_{1};
};

}  // namespace symnas::fs
