// SpySession: a session that notes every mutation, and can run something just before a commit, for
// tests of conflicts. Everything else is the real session's.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/kv/session.h"

namespace symnas::fs {

class SpySession final : public kv::Session {
 public:
  explicit SpySession(std::unique_ptr<kv::Session> real) : real_(std::move(real)) {}

  void commit(kv::Mutation mutation, kv::CommitCallback done) override {
    if (interruption_) std::exchange(interruption_, nullptr)();
    {
      const std::scoped_lock lock(mutex_);
      mutations_.push_back(mutation);
    }
    real_->commit(std::move(mutation), [this, done = std::move(done)](Result<kv::Committed> r) {
      if (r && !r->succeeded) ++conflicts_;
      done(std::move(r));
    });
  }
  Status admit(kv::Growth growth) const override { return real_->admit(growth); }
  using kv::Session::read;
  Result<std::vector<kv::CachedValue>> read(const std::vector<std::string>& keys) override {
    auto values = real_->read(keys);
    if (after_read_) std::exchange(after_read_, nullptr)();
    return values;
  }
  Status await_own(const std::vector<std::string>& keys) override {
    {
      const std::scoped_lock lock(mutex_);
      awaited_.insert(awaited_.end(), keys.begin(), keys.end());
    }
    return real_->await_own(keys);
  }
  std::optional<kv::CachedValue> peek(const std::string& key) override {
    if (unseen_ > 0) {
      --unseen_;
      return std::nullopt;
    }
    return real_->peek(key);
  }
  void read_async(std::vector<std::string> keys,
                  std::function<void(Result<std::vector<kv::CachedValue>>)> done) override {
    if (!late_read_) return real_->read_async(std::move(keys), std::move(done));
    auto values = real_->read(keys);
    std::exchange(late_read_, nullptr)();
    done(std::move(values));
  }
  Result<kv::OpResult> range(kv::KeyRange range, std::int64_t limit) override {
    if (before_range_) before_range_();
    return real_->range(std::move(range), limit);
  }
  Status barrier() override {
    ++barriers_;
    return real_->barrier();
  }
  void barrier_async(std::function<void(Status)> done) override {
    ++barriers_;
    real_->barrier_async(std::move(done));
  }
  Revision applied() const override { return real_->applied(); }
  std::int64_t next_time_ns() override { return real_->next_time_ns(); }
  void saw_time_ns(std::int64_t time_ns) override { real_->saw_time_ns(time_ns); }
  std::int64_t stamp_time_ns() const override { return real_->stamp_time_ns(); }
  kv::SessionCounters counters() const override { return real_->counters(); }

  // Runs `by` once, just before the next commit is sent: another operation is faster.
  void interrupt(std::function<void()> by) { interruption_ = std::move(by); }
  // Runs `by` once, between the next read_async() and its answer.
  void during_read(std::function<void()> by) { late_read_ = std::move(by); }
  // Runs `by` once, between the next blocking read() and its return.
  void after_next_read(std::function<void()> by) { after_read_ = std::move(by); }
  // The next `peeks` peeks find nothing, as if the cache had evicted the key.
  void evict(int peeks) { unseen_ = peeks; }
  // Runs `hook` before every range read of the calling thread, so that the read is answered late.
  // nullptr ends that.
  void before_range_on_this_thread(std::function<void()> hook) { before_range_ = std::move(hook); }
  void forget() {
    mutations_.clear();
    awaited_.clear();
    conflicts_ = 0;
    barriers_ = 0;
  }
  const std::vector<kv::Mutation>& mutations() const { return mutations_; }
  // The keys whose own commits under way have been awaited.
  const std::vector<std::string>& awaited() const { return awaited_; }
  int conflicts() const { return conflicts_; }
  int barriers() const { return barriers_; }

 private:
  inline static thread_local std::function<void()> before_range_;
  std::unique_ptr<kv::Session> real_;
  std::function<void()> interruption_;
  std::function<void()> late_read_;
  std::function<void()> after_read_;
  std::atomic<int> unseen_{0};
  std::mutex mutex_;
  std::vector<kv::Mutation> mutations_;  // guarded by mutex_
  std::vector<std::string> awaited_;     // guarded by mutex_
  std::atomic<int> conflicts_{0};
  std::atomic<int> barriers_{0};
};

}  // namespace symnas::fs
