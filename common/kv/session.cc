#include "common/kv/session.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "common/base/thread_annotations.h"
#include "common/base/waiting.h"
#include "common/kv/session_core.h"

namespace symnas::kv {

namespace {

// Wakes the session's thread. Shared with the core, whose last callbacks may run after the session
// is gone.
class Bell {
 public:
  void ring() {
    {
      const MutexLock lock(mutex_);
      rung_ = true;
    }
    changed_.notify_one();
  }
  void stop() {
    {
      const MutexLock lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_one();
  }
  // Waits until it rings or until `wait` has passed. False: stopped.
  bool wait(std::optional<std::chrono::nanoseconds> wait) {
    const MutexLock lock(mutex_);
    const auto done = [this]() REQUIRES(mutex_) { return rung_ || stopped_; };
    if (wait) {
      changed_.wait_for(mutex_, *wait, done);
    } else {
      changed_.wait(mutex_, done);
    }
    rung_ = false;
    return !stopped_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool rung_ GUARDED_BY(mutex_) = false;
  bool stopped_ GUARDED_BY(mutex_) = false;
};

template <class T>
class Promise {
 public:
  std::function<void(Result<T>)> callback() {
    return [promise = promise_](Result<T> result) { promise->set_value(std::move(result)); };
  }
  Result<T> wait() { return wait_and_get(promise_->get_future()); }
  // Errors: kUnavailable when it takes longer.
  Result<T> wait_for(std::int64_t deadline_ms) {
    auto future = promise_->get_future();
    if (future.wait_for(std::chrono::milliseconds(deadline_ms)) != std::future_status::ready) {
      return fail(ErrorCode::kUnavailable,
                  "session: etcd has not answered within " + std::to_string(deadline_ms) + " ms");
    }
    return future.get();
  }

 private:
  std::shared_ptr<std::promise<Result<T>>> promise_ = std::make_shared<std::promise<Result<T>>>();
};

class ThreadedSession final : public Session {
 public:
  ThreadedSession(Store& store, const env::Clock& clock, SessionOptions options,
                  std::function<void(Error)> on_ended)
      : clock_(clock),
        bell_(std::make_shared<Bell>()),
        core_(std::make_shared<SessionCore>(store, clock, std::move(options), std::move(on_ended),
                                            [bell = bell_] { bell->ring(); })),
        thread_([this] { run(); }) {}

  ~ThreadedSession() override {
    bell_->stop();
    thread_.join();
    core_->shut_down();
  }

  Status start(std::int64_t deadline_ms) {
    Promise<void> opened;
    core_->start(opened.callback());
    return opened.wait_for(deadline_ms);
  }

  void commit(Mutation mutation, CommitCallback done) override {
    const SessionContext::Inside inside(*core_);
    core_->committer().commit(std::move(mutation), std::move(done));
  }

  Status admit(Growth growth) const override {
    const auto& quota = core_->options.quota;
    return quota ? quota->admit(growth) : Status();
  }

  Result<std::vector<CachedValue>> read(const std::vector<std::string>& keys) override {
    const SessionContext::Inside inside(*core_);
    if (!core_->is_closed()) {
      if (auto cached = core_->reader().peek_all(keys)) return std::move(*cached);
    }
    Promise<std::vector<CachedValue>> values;
    core_->reader().read(keys, values.callback());
    return values.wait();
  }

  Status await_own(const std::vector<std::string>& keys) override {
    const SessionContext::Inside inside(*core_);
    Promise<void> landed;
    core_->reader().await_own(keys, landed.callback());
    return landed.wait();
  }

  std::optional<CachedValue> peek(const std::string& key) override {
    return core_->reader().peek(key);
  }

  void read_async(std::vector<std::string> keys,
                  std::function<void(Result<std::vector<CachedValue>>)> done) override {
    const SessionContext::Inside inside(*core_);
    core_->reader().read(std::move(keys), std::move(done));
  }

  Result<OpResult> range(KeyRange range, std::int64_t limit) override {
    const SessionContext::Inside inside(*core_);
    Promise<OpResult> found;
    core_->reader().range(std::move(range), limit, found.callback());
    return found.wait();
  }

  Status barrier() override {
    const SessionContext::Inside inside(*core_);
    Promise<void> passed;
    core_->barriers().barrier(passed.callback());
    return passed.wait();
  }

  void barrier_async(std::function<void(Status)> done) override {
    const SessionContext::Inside inside(*core_);
    core_->barriers().barrier(std::move(done));
  }

  Revision applied() const override { return core_->watch_keeper().applied(); }
  std::int64_t next_time_ns() override { return core_->time.next(clock_.wall_ns()); }
  void saw_time_ns(std::int64_t time_ns) override { core_->time.saw(time_ns); }
  std::int64_t stamp_time_ns() const override { return core_->time.newest_stamp(); }
  SessionCounters counters() const override { return core_->snapshot_counters(); }

 private:
  void run() {
    std::optional<std::chrono::nanoseconds> wait(0);
    while (bell_->wait(wait)) {
      const auto next_ns = core_->poll();
      wait.reset();
      if (next_ns) {
        wait = std::chrono::nanoseconds(std::max<std::int64_t>(*next_ns - clock_.mono_ns(), 0));
      }
    }
  }

  const env::Clock& clock_;
  const std::shared_ptr<Bell> bell_;
  const std::shared_ptr<SessionCore> core_;
  std::thread thread_;
};

Status check_options(const SessionOptions& options) {
  const auto refuse = [](std::string why) {
    return fail(ErrorCode::kInvalidArgument, "session options: " + std::move(why));
  };
  if (options.session_id.empty()) return refuse("no session_id");
  if (options.slot_prefix.empty()) return refuse("no slot_prefix");
  if (options.mount_key.empty() || options.ended_key.empty()) return refuse("no mount");
  if (options.mount_create_revision == Revision(0)) return refuse("the mount record must exist");
  if (!contains(options.watched, options.stamp_key)) {
    return refuse("the stamp lies outside the watched range");
  }
  if (overlap(options.watched, prefix_range(options.slot_prefix))) {
    return refuse("slots lie inside the watched range");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(Store& store, const env::Clock& clock,
                                               SessionOptions options,
                                               std::function<void(Error)> on_ended,
                                               std::int64_t deadline_ms) {
  SYMNAS_TRY(check_options(options));
  auto session =
      std::make_unique<ThreadedSession>(store, clock, std::move(options), std::move(on_ended));
  SYMNAS_TRY(session->start(deadline_ms));
  return std::unique_ptr<Session>(std::move(session));
}

Result<Committed> Session::commit_blocking(Mutation mutation) {
  Promise<Committed> committed;
  commit(std::move(mutation), committed.callback());
  return committed.wait();
}

Result<CachedValue> Session::read(const std::string& key) {
  SYMNAS_ASSIGN(std::vector<CachedValue> values, read(std::vector<std::string>{key}));
  return std::move(values.front());
}

}  // namespace symnas::kv
