// SessionWorld: one simulated store with clients that run sessions. Time stands still between calls
// of run().
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "common/kv/mem/mem_store.h"
#include "common/kv/session_core.h"

namespace symnas::kv {

constexpr FsId kTestFs{7};
constexpr std::int64_t kNsPerMs = 1'000'000;

inline std::string data_key(const std::string& name) {
  return keys::filesystem(kTestFs) + "w" + name;
}
inline std::string unwatched_key(const std::string& name) {
  return keys::filesystem(kTestFs) + "u" + name;
}

// Every event of the watch comes late; transactions have no fault.
class SlowWatch final : public FaultPlan {
 public:
  explicit SlowWatch(std::int64_t delay_ns) : delay_ns_(delay_ns) {}
  TxnFault next_txn(const Txn&) override { return {}; }
  WatchFault next_watch(Revision) override {
    return {.kind = WatchFault::Kind::kDelay, .delay_ns = delay_ns_};
  }

 private:
  const std::int64_t delay_ns_;
};

// A store that executes transactions and can hold back the answers.
class HoldingStore final : public Store {
 public:
  using Matches = std::function<bool(const Txn&)>;
  explicit HoldingStore(Store& store) : store_(store) {}
  // From now on answers to matching transactions wait for release().
  void hold(Matches matches) { matches_ = std::move(matches); }
  void release() {
    matches_ = nullptr;
    lost_.clear();
    for (auto& answer : std::exchange(held_, {})) answer();
  }
  // The answer that has waited longest; later ones go on to wait.
  void release_first() {
    const auto answer = std::move(held_.front());
    held_.erase(held_.begin());
    lost_.erase(lost_.begin());
    answer();
  }
  // The answer that has waited for the shortest time.
  void release_last() {
    const auto answer = std::move(held_.back());
    held_.pop_back();
    lost_.pop_back();
    answer();
  }
  // The answers held back are lost: their senders hear of a time-out.
  void drop() {
    matches_ = nullptr;
    for (auto& lost : std::exchange(lost_, {})) lost();
    held_.clear();
  }
  std::size_t held() const { return held_.size(); }

  void txn(Txn txn, TryOptions options, TxnCallback done) override {
    if (matches_ && matches_(txn)) {
      done = [this, done = std::move(done)](Result<TxnResult> result) {
        held_.push_back([done, result = std::move(result)]() mutable { done(std::move(result)); });
        lost_.push_back([done] { done(fail(ErrorCode::kUnknownOutcome, "reply lost")); });
      };
    }
    store_.txn(std::move(txn), options, std::move(done));
  }
  std::unique_ptr<Watch> watch(KeyRange range, Revision start, WatchHandler* handler) override {
    return store_.watch(std::move(range), start, handler);
  }
  Status compact(Revision revision, TryOptions options) override {
    return store_.compact(revision, options);
  }
  std::vector<MemberStatus> status(TryOptions options) override { return store_.status(options); }

 private:
  Store& store_;
  Matches matches_;
  std::vector<std::function<void()>> held_;
  std::vector<std::function<void()>> lost_;
};

// A session driven by a SeededScheduler: its poll() is an event like any other.
class SimSession {
 public:
  SimSession(std::shared_ptr<SeededScheduler> scheduler, std::shared_ptr<MemServer> server,
             std::shared_ptr<FaultPlan> faults, SessionOptions options, Store* through = nullptr)
      : scheduler_(std::move(scheduler)) {
    MemStoreOptions store_options;
    store_options.server = std::move(server);
    store_options.scheduler = scheduler_;
    store_options.faults = std::move(faults);
    store_options.random = std::make_shared<env::SeededRandom>(scheduler_->random().next());
    store_ = std::make_unique<MemStore>(std::move(store_options));
    alive_ = std::make_shared<bool>(true);
    core_ = std::make_shared<SessionCore>(
        through != nullptr ? *through : *store_, *scheduler_, std::move(options),
        [this](Error error) { ended.push_back(std::move(error)); }, [this] { poll_at(0); });
  }
  ~SimSession() {
    *alive_ = false;
    core_->shut_down();
  }

  void start() {
    core_->start([this](Status status) { opened = std::move(status); });
  }
  SessionCore& core() { return *core_; }
  MemStore& store() { return *store_; }

  std::optional<Status> opened;
  std::vector<Error> ended;

 private:
  // Only one poll is scheduled at a time: the earliest.
  void poll_at(std::int64_t delay_ns) {
    if (!*alive_) return;
    const std::int64_t at_ns = scheduler_->mono_ns() + delay_ns;
    if (next_poll_ns_ && *next_poll_ns_ <= at_ns) return;
    next_poll_ns_ = at_ns;
    scheduler_->schedule(delay_ns, [this, alive = alive_, at_ns] {
      if (!*alive || next_poll_ns_ != at_ns) return;
      next_poll_ns_.reset();
      if (const auto next = core_->poll()) {
        poll_at(std::max<std::int64_t>(*next - scheduler_->mono_ns(), 0));
      }
    });
  }

  std::shared_ptr<SeededScheduler> scheduler_;
  std::unique_ptr<MemStore> store_;
  std::shared_ptr<bool> alive_;
  std::shared_ptr<SessionCore> core_;
  std::optional<std::int64_t> next_poll_ns_;
};

class SessionWorld {
 public:
  explicit SessionWorld(std::uint64_t seed = 1)
      : scheduler(std::make_shared<SeededScheduler>(seed)),
        server(std::make_shared<MemServer>()),
        faults(std::make_shared<ScriptedFaults>()) {
    MemStoreOptions options;
    options.server = server;
    options.scheduler = scheduler;
    outsider_ = std::make_unique<MemStore>(std::move(options));
  }

  // Events that are left own the scheduler in which they wait: run them.
  ~SessionWorld() { scheduler->run(1'000'000); }

  void run_ms(std::int64_t ms) { scheduler->run_for(ms * kNsPerMs); }

  // Runs a transaction of somebody else, without faults.
  TxnResult outside(Txn txn) {
    std::optional<Result<TxnResult>> answer;
    outsider_->txn(std::move(txn), TryOptions{.timeout_ms = 1000},
                   [&answer](Result<TxnResult> r) { answer = std::move(r); });
    for (int i = 0; i < 100'000 && !answer; ++i) scheduler->run_one();
    EXPECT_TRUE(answer && *answer) << "an outsider's transaction failed";
    return answer && *answer ? std::move(**answer) : TxnResult{};
  }
  // As outside(), with the stamp, like another mount's session.
  TxnResult outside_stamped(std::vector<Op> ops) {
    std::string time;
    append_be64(time, static_cast<std::uint64_t>(scheduler->wall_ns()));
    Txn txn;
    txn.success.push_back(put(keys::stamp(kTestFs), time));
    for (auto& op : ops) txn.success.push_back(std::move(op));
    return outside(std::move(txn));
  }
  std::optional<KeyValue> stored(const std::string& key) const {
    for (auto& kv : server->dump()) {
      if (kv.key == key) return kv;
    }
    return std::nullopt;
  }

  // Creates the mount record; returns the options of its session.
  SessionOptions new_mount(std::uint64_t id = 1) {
    SessionOptions options;
    append_be64(options.session_id, id);
    options.slot_prefix = keys::slot_prefix(kTestFs);
    options.watched = keys::watched(kTestFs);
    options.stamp_key = keys::stamp(kTestFs);
    options.mount_key = keys::mount(kTestFs, MountId(id));
    options.ended_key = keys::mount_ended(kTestFs, MountId(id));
    options.mount_create_revision = outside_stamped({put(options.mount_key, "mount")}).revision;
    return options;
  }
  std::unique_ptr<SimSession> new_session(std::uint64_t id = 1) {
    return new_session(new_mount(id), faults);
  }
  // A client's connection without faults, for stores that wrap one.
  std::unique_ptr<MemStore> new_store(std::shared_ptr<FaultPlan> plan = nullptr) {
    MemStoreOptions options;
    options.server = server;
    options.scheduler = scheduler;
    options.faults = std::move(plan);
    return std::make_unique<MemStore>(std::move(options));
  }
  std::unique_ptr<SimSession> new_session(SessionOptions options, std::shared_ptr<FaultPlan> plan,
                                          Store* through = nullptr) {
    auto session = std::make_unique<SimSession>(scheduler, server, std::move(plan),
                                                std::move(options), through);
    session->start();
    run_until([&] { return session->opened.has_value(); });
    return session;
  }

  template <class Condition>
  bool run_until(Condition condition, std::int64_t events_max = 200'000) {
    for (std::int64_t i = 0; i < events_max && !condition(); ++i) {
      if (!scheduler->run_one()) break;
    }
    return condition();
  }

  Result<Committed> commit(SimSession& session, Mutation mutation) {
    std::optional<Result<Committed>> result;
    session.core().committer().commit(std::move(mutation),
                                      [&result](Result<Committed> r) { result = std::move(r); });
    run_until([&] { return result.has_value(); });
    if (!result) return fail(ErrorCode::kInternal, "test: no answer");
    return *result;
  }
  Result<CachedValue> read(SimSession& session, const std::string& key) {
    std::optional<Result<std::vector<CachedValue>>> result;
    session.core().reader().read({key}, [&result](auto r) { result = std::move(r); });
    run_until([&] { return result.has_value(); });
    if (!result) return fail(ErrorCode::kInternal, "test: no answer");
    if (!*result) return tl::unexpected<Error>(result->error());
    return (*result)->front();
  }
  Status barrier(SimSession& session) {
    std::optional<Status> result;
    session.core().barriers().barrier([&result](Status s) { result = std::move(s); });
    run_until([&] { return result.has_value(); });
    return result ? *result : fail(ErrorCode::kInternal, "test: no answer");
  }

  std::shared_ptr<SeededScheduler> scheduler;
  std::shared_ptr<MemServer> server;
  std::shared_ptr<ScriptedFaults> faults;

 private:
  std::unique_ptr<MemStore> outsider_;
};

inline Mutation put_mutation(const std::string& key, const std::string& value) {
  Mutation mutation;
  mutation.writes.push_back(put(key, value));
  return mutation;
}
// Puts the key if it still has this mod_revision.
inline Mutation replace_mutation(const std::string& key, Revision mod_revision,
                                 const std::string& value) {
  Mutation mutation;
  mutation.compares.push_back(mod_revision_is(key, mod_revision));
  mutation.writes.push_back(put(key, value));
  return mutation;
}

// True for the transactions that carry operations of a session.
inline bool is_batch(const Txn& txn) {
  for (const auto& op : txn.success) {
    if (op.kind == Op::Kind::kTxn) return true;
  }
  return false;
}
inline bool is_abort(const Txn& txn) {
  return txn.success.size() == 1 && txn.success.front().kind == Op::Kind::kDelete;
}

}  // namespace symnas::kv
