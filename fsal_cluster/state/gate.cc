#include "fsal_cluster/state/gate.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/instance_counters.h"
#include "common/base/waiting.h"

namespace symnas::fs {
namespace {

thread_local bool t_has_passed = false;

void raise(std::atomic<std::int64_t>& to_raise, std::int64_t value) {
  std::int64_t before = to_raise.load();
  while (before < value && !to_raise.compare_exchange_weak(before, value)) {
  }
}

}  // namespace

bool Gate::has_passed_here() { return t_has_passed; }
void Gate::forget_passed() { t_has_passed = false; }

std::optional<std::int64_t> Gate::open_for_ns() const {
  // Read in this order, because prove() sets the beginning first.
  const std::int64_t now_ns = clock_.mono_ns();
  if (now_ns >= open_until_ns()) return std::nullopt;
  return std::max<std::int64_t>(now_ns - open_since_ns(), 0);
}

bool Gate::has_sign(std::int64_t began_ns) const {
  return confirmed_ns_.load() >= began_ns || clock_.mono_ns() < recorded_ns_.load() + kLifeWindowNs;
}

bool Gate::may_go(const Held& held) const {
  return is_open() && (!held.answers_since_ns || has_sign(*held.answers_since_ns));
}

bool Gate::may_answer(std::int64_t began_ns) {
  if (!is_open()) return false;
  if (confirmed_ns_.load() < began_ns) {
    const std::int64_t age_ns = clock_.mono_ns() - recorded_ns_.load();
    if (age_ns >= kLifeRenewNs) want();
    if (age_ns >= kLifeWindowNs) return false;
  }
  t_has_passed = true;
  return true;
}

void Gate::want() {
  if (wanted_.load(std::memory_order_acquire)) return;
  const MutexLock lock(mutex_);
  want_locked();
}

void Gate::want_locked() {
  if (!wanted_.exchange(true) && wake_) wake_();
}

void Gate::on_wanted(std::function<void()> wake) {
  const MutexLock lock(mutex_);
  wake_ = std::move(wake);
}

void Gate::pass(Action action) {
  if (!is_open()) {
    MutexLock lock(mutex_);
    // prove() may have come between the look and the lock; it does not see an action that is not
    // held yet.
    if (shut_down_) {
      lock.unlock();
      action(Passage::kShutDown);
      return;
    }
    if (!is_open()) {
      held_.push_back({std::move(action), std::nullopt});
      return;
    }
  }
  action(Passage::kOpen);
}

Gate::Passage Gate::wait() {
  if (is_open()) return Passage::kOpen;
  const Waiting waiting;
  const MutexLock lock(mutex_);
  ++blocked_;
  opened_.wait(mutex_, [this]() REQUIRES(mutex_) { return shut_down_ || is_open(); });
  --blocked_;
  return shut_down_ ? Passage::kShutDown : Passage::kOpen;
}

void Gate::answer(std::int64_t began_ns, Action action) {
  if (!may_answer(began_ns)) {
    MutexLock lock(mutex_);
    if (shut_down_) {
      lock.unlock();
      action(Passage::kShutDown);
      return;
    }
    // confirm() sees either this number, or is seen by the look that follows.
    answers_held_.fetch_add(1);
    Held held{std::move(action), began_ns};
    if (!may_go(held)) {
      held_.push_back(std::move(held));
      want_locked();
      return;
    }
    answers_held_.fetch_sub(1);
    lock.unlock();
    t_has_passed = true;
    held.action(Passage::kOpen);
    return;
  }
  action(Passage::kOpen);
}

Gate::Passage Gate::wait_to_answer(std::int64_t began_ns) {
  if (may_answer(began_ns)) return Passage::kOpen;
  const Waiting waiting;
  const MutexLock lock(mutex_);
  ++blocked_;
  answers_held_.fetch_add(1);
  want_locked();
  opened_.wait(mutex_,
               [&]() REQUIRES(mutex_) { return shut_down_ || (is_open() && has_sign(began_ns)); });
  answers_held_.fetch_sub(1);
  --blocked_;
  if (shut_down_) return Passage::kShutDown;
  t_has_passed = true;
  return Passage::kOpen;
}

void Gate::prove(std::int64_t sent_ns) {
  {
    const MutexLock lock(mutex_);
    const bool was_open = is_open();
    if (!was_open) open_since_ns_.store(clock_.mono_ns(), std::memory_order_release);
    raise(proven_ns_, sent_ns);
    if (!is_open()) return;  // the proof is too old already
    if (!was_open) ++instance_counters().gate_closings;
  }
  release();
}

void Gate::confirm(std::int64_t begun_ns, Seen seen) {
  raise(confirmed_ns_, begun_ns);
  if (seen == Seen::kByEverybody) {
    raise(recorded_ns_, begun_ns);
    wanted_.store(false);  // before the look: an answer that is held meanwhile wants again
  }
  if (answers_held_.load() > 0) release();
}

// Lets go what may go now.
void Gate::release() {
  std::vector<Held> going;
  {
    const MutexLock lock(mutex_);
    const auto stays = std::stable_partition(held_.begin(), held_.end(),
                                             [this](const Held& held) { return may_go(held); });
    going.assign(std::make_move_iterator(held_.begin()), std::make_move_iterator(stays));
    held_.erase(held_.begin(), stays);
    for (const Held& held : going)
      if (held.answers_since_ns) answers_held_.fetch_sub(1);
  }
  opened_.notify_all();
  if (answers_held_.load() > 0) want();
  const bool has_passed = t_has_passed;  // what goes now is of other requests than this thread's
  for (Held& held : going) {
    if (held.answers_since_ns) {
      answer(*held.answers_since_ns, std::move(held.action));
    } else {
      pass(std::move(held.action));
    }
  }
  t_has_passed = has_passed;
}

void Gate::shut_down() {
  std::vector<Held> going;
  {
    const MutexLock lock(mutex_);
    shut_down_ = true;
    going.swap(held_);
  }
  opened_.notify_all();
  for (const Held& held : going) held.action(Passage::kShutDown);
}

std::size_t Gate::held() const {
  const MutexLock lock(mutex_);
  return held_.size() + blocked_;
}

}  // namespace symnas::fs
