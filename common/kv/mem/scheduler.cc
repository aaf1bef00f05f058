#include "common/kv/mem/scheduler.h"

#include <deque>
#include <thread>
#include <utility>

#include "common/base/thread_annotations.h"

namespace symnas::kv {

namespace {
// The events posted on this thread while one is running; null when none is.
thread_local std::deque<std::function<void()>>* t_running = nullptr;
}  // namespace

void InlineScheduler::schedule(std::int64_t /*delay_ns*/, std::function<void()> event) {
  if (t_running != nullptr) {
    t_running->push_back(std::move(event));
    return;
  }
  std::deque<std::function<void()>> queue;
  t_running = &queue;
  event();
  while (!queue.empty()) {
    const std::function<void()> next = std::move(queue.front());
    queue.pop_front();
    next();
  }
  t_running = nullptr;
}

struct ThreadScheduler::State {
  Mutex mutex;
  CondVar wake;
  std::deque<std::function<void()>> queue GUARDED_BY(mutex);
  bool stop GUARDED_BY(mutex) = false;
  std::thread thread;
};

ThreadScheduler::ThreadScheduler() : state_(std::make_shared<State>()) {
  // The thread holds the state: the scheduler may be destroyed by one of its own events.
  state_->thread = std::thread([state = state_] {
    MutexLock lock(state->mutex);
    for (;;) {
      state->wake.wait(state->mutex, [&state]() REQUIRES(state->mutex) {
        return state->stop || !state->queue.empty();
      });
      if (state->stop) return;
      std::function<void()> event = std::move(state->queue.front());
      state->queue.pop_front();
      lock.unlock();
      event();
      event = nullptr;  // what it captured is destroyed without the lock
      lock.lock();
    }
  });
}

ThreadScheduler::~ThreadScheduler() {
  std::deque<std::function<void()>> dropped;
  {
    const MutexLock lock(state_->mutex);
    state_->stop = true;
    dropped.swap(state_->queue);
  }
  state_->wake.notify_all();
  if (state_->thread.get_id() == std::this_thread::get_id()) {
    state_->thread.detach();
  } else {
    state_->thread.join();
  }
}

void ThreadScheduler::schedule(std::int64_t /*delay_ns*/, std::function<void()> event) {
  {
    const MutexLock lock(state_->mutex);
    if (state_->stop) return;
    state_->queue.push_back(std::move(event));
  }
  state_->wake.notify_one();
}

void SeededScheduler::schedule(std::int64_t delay_ns, std::function<void()> event) {
  events_[now_ns_ + (delay_ns > 0 ? delay_ns : 0)].push_back(std::move(event));
}

bool SeededScheduler::run_one() {
  if (events_.empty()) return false;
  const auto first = events_.begin();
  now_ns_ = first->first;
  std::vector<std::function<void()>>& due = first->second;
  std::swap(due[random_.below(due.size())], due.back());
  const std::function<void()> event = std::move(due.back());
  due.pop_back();
  if (due.empty()) events_.erase(first);
  event();
  return true;
}

std::int64_t SeededScheduler::run(std::int64_t events_max) {
  std::int64_t count = 0;
  while (count < events_max && run_one()) ++count;
  return count;
}

void SeededScheduler::run_for(std::int64_t span_ns) {
  const std::int64_t end_ns = now_ns_ + span_ns;
  while (!events_.empty() && events_.begin()->first <= end_ns) run_one();
  now_ns_ = end_ns;
}

}  // namespace symnas::kv
