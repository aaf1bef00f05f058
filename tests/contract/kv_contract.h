// KvContract: what every Store must do, run on each back end: in memory (answering inline and from
// a thread of its own), one etcd, three etcd members with TLS. One store per back end serves all
// tests; each test has its own key prefix.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/kv/store.h"

namespace symnas::kv::testing {

enum class Backend { kMem, kMemThread, kEtcd, kEtcdTls3 };
std::string name_of(Backend backend);

// Long enough for one election and a slow machine.
inline constexpr std::int64_t kPatienceMs = 20'000;

class KvContract : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override;

  Store& store() { return *store_; }
  std::string key(const std::string& name) const { return prefix_ + name; }
  KeyRange all() const { return prefix_range(prefix_); }

  // Executes the transaction exactly once, even on a slow machine. REQUIRES: a repetition is
  // harmless, or the store is healthy.
  Result<TxnResult> run(Txn txn) { return txn_blocking(store(), std::move(txn), kPatienceMs); }
  Revision must(Txn txn);  // runs; REQUIRES success; returns the revision
  Revision must_put(const std::string& name, const std::string& value);
  Revision must_erase(const std::string& name);
  ErrorCode refused(Txn txn);  // REQUIRES: refused
  std::optional<KeyValue> read(const std::string& name);
  // Every key of the test as "name=value", prefix removed.
  std::vector<std::string> dump();

 private:
  Store* store_ = nullptr;
  std::string prefix_;
};

Txn ops(std::vector<Op> success);

// A watch handler that remembers events, and can wait for them.
class Recorder final : public WatchHandler {
 public:
  struct Call {
    std::vector<WatchEvent> events;
    Revision revision;
  };

  void on_watch_created(Revision revision) override;
  void on_watch_events(std::vector<WatchEvent> events, Revision revision) override;
  void on_watch_ended(Error error) override;

  // Each waits at most kPatienceMs, then fails the test.
  Revision wait_created();
  ErrorCode wait_ended();
  // Whether the watch ends within this time; used to show that it does not.
  bool ends_within(std::int64_t ms);
  // Waits until an event of this key has come.
  void wait_key(const std::string& key);

  std::vector<Call> calls() const;
  // "+key@mod" and "-key@mod".
  std::vector<std::string> seen() const;
  std::size_t bytes() const;

 private:
  bool wait(const std::function<bool()>& condition, std::int64_t ms = kPatienceMs);

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<Revision> created_;
  std::optional<Error> ended_;
  std::vector<Call> calls_;
};

}  // namespace symnas::kv::testing
