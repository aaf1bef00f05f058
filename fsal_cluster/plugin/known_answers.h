// KnownAnswers: what a service that may be slow or away has answered about each key. Nobody waits
// for it: a question is asked beside, and an answer holds until the next one replaces it.
//
// Thread class: thread-safe. Answers older than kRefreshMs are asked for again when they are used.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/thread_annotations.h"
#include "fsal_cluster/plugin/limits.h"

namespace symnas::plugin {

template <class Key, class Value>
class KnownAnswers {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Has the question asked soon, on another thread; answer() or failed() follows.
  using Ask = std::function<void(const Key&)>;

  // keys_max: of more than so many keys nothing is known.
  explicit KnownAnswers(Ask ask, std::size_t keys_max = kKnownAnswersMax)
      : ask_(std::move(ask)), keys_max_(keys_max) {}

  // nullopt: not known yet.
  std::optional<Value> find(const Key& key, Time now) {
    MutexLock lock(mutex_);
    Entry* const entry = entry_of(key, now);
    if (entry == nullptr) return std::nullopt;
    const std::optional<Value> value = entry->value;
    const bool asks = must_ask(*entry, now);
    lock.unlock();
    if (asks) ask_(key);
    return value;
  }

  // Keeps `resume` until the answer is known, or kNameWaitMs; it is called once, on any thread,
  // maybe before this returns. False: it is known already, or nothing came in that time before:
  // `resume` is not kept.
  bool wait(const Key& key, Time now, std::function<void()> resume) {
    MutexLock lock(mutex_);
    Entry* const entry = entry_of(key, now);
    if (entry == nullptr || entry->value || entry->in_vain) return false;
    if (entry->waiting.empty()) entry->wait_until = now + ms(kNameWaitMs);
    entry->waiting.push_back(std::move(resume));
    const bool asks = must_ask(*entry, now);
    lock.unlock();
    if (asks) ask_(key);
    return true;
  }

  // complete: nothing of the answer is missing; else it is asked for again soon.
  void answer(const Key& key, Value value, bool complete, Time now) {
    MutexLock lock(mutex_);
    Entry& entry = entries_[key];
    entry.value = std::move(value);
    entry.asked = false;
    entry.in_vain = false;
    entry.next = now + ms(complete ? kRefreshNamesMs : kAskAgainMs);
    const auto waiting = std::exchange(entry.waiting, {});
    lock.unlock();
    resume(waiting);
  }

  void failed(const Key& key, Time now) {
    const MutexLock lock(mutex_);
    Entry& entry = entries_[key];
    entry.asked = false;
    entry.next = now + ms(kAskAgainMs);
  }

  // The question of this key has become another one.
  void ask_again(const Key& key, Time now) {
    MutexLock lock(mutex_);
    Entry* const entry = entry_of(key, now);
    if (entry == nullptr) return;
    entry->next = std::min(entry->next, now);
    const bool asks = must_ask(*entry, now);
    lock.unlock();
    if (asks) ask_(key);
  }

  // Resumes what has waited for too long.
  void tick(Time now) {
    let_go([now](const Entry& entry) { return entry.wait_until <= now; });
  }
  void resume_all() {
    let_go([](const Entry&) { return true; });
  }

 private:
  struct Entry {
    std::optional<Value> value;
    Time next{};  // when it is to be asked for
    Time used{};
    Time wait_until{};
    bool asked = false;    // on the way
    bool in_vain = false;  // to wait is of no use: nothing came in time
    std::vector<std::function<void()>> waiting;
  };

  static std::chrono::milliseconds ms(std::int64_t count) {
    return std::chrono::milliseconds(count);
  }

  // null: there are too many keys.
  Entry* entry_of(const Key& key, Time now) REQUIRES(mutex_) {
    auto found = entries_.find(key);
    if (found == entries_.end()) {
      if (entries_.size() >= keys_max_) forget_unused(now);
      if (entries_.size() >= keys_max_) return nullptr;
      found = entries_.try_emplace(key).first;
    }
    found->second.used = now;
    return &found->second;
  }

  // Looks at all of them, so not for each new key that somebody makes up.
  void forget_unused(Time now) REQUIRES(mutex_) {
    if (now < next_forget_) return;
    next_forget_ = now + ms(kForgetNamesMs);
    std::erase_if(entries_, [&](const auto& one) {
      const Entry& entry = one.second;
      return !entry.asked && entry.waiting.empty() && now - entry.used > ms(kRefreshNamesMs);
    });
  }

  static bool must_ask(Entry& entry, Time now) {
    if (entry.asked || entry.next > now) return false;
    entry.asked = true;
    return true;
  }

  static void resume(const std::vector<std::function<void()>>& waiting) {
    for (const auto& one : waiting) one();
  }

  template <class Which>
  void let_go(const Which& which) {
    std::vector<std::function<void()>> waiting;
    MutexLock lock(mutex_);
    for (auto& [key, entry] : entries_) {
      if (entry.waiting.empty() || !which(entry)) continue;
      entry.in_vain = true;
      for (auto& one : entry.waiting) waiting.push_back(std::move(one));
      entry.waiting.clear();
    }
    lock.unlock();
    resume(waiting);
  }

  const Ask ask_;
  const std::size_t keys_max_;
  Time next_forget_ GUARDED_BY(mutex_){};
  mutable Mutex mutex_;
  std::map<Key, Entry> entries_ GUARDED_BY(mutex_);
};

}  // namespace symnas::plugin
