#include "tests/contract/kv_contract.h"

#include <chrono>
#include <iostream>
#include <map>
#include <memory>

#include "common/base/check.h"
#include "common/kv/etcd/etcd_store.h"
#include "common/kv/mem/mem_store.h"
#include "tests/contract/etcd_cluster.h"

namespace symnas::kv::testing {

namespace {

struct Shared {
  std::unique_ptr<EtcdCluster> cluster;
  std::unique_ptr<Store> store;
};
std::map<Backend, Shared>& shared() {
  static std::map<Backend, Shared> all;
  return all;
}

// Ends the members before main returns, whatever the outcome of the tests.
class EndOfRun final : public ::testing::Environment {
 public:
  void TearDown() override {
    for (auto& [backend, entry] : shared()) entry.store.reset();
    shared().clear();
  }
};
const auto* const g_end_of_run = ::testing::AddGlobalTestEnvironment(new EndOfRun);

Shared open(Backend backend) {
  Shared out;
  switch (backend) {
    case Backend::kMem: out.store = std::make_unique<MemStore>(); return out;
    case Backend::kMemThread:
      out.store = std::make_unique<MemStore>(
          MemStoreOptions{.scheduler = std::make_shared<ThreadScheduler>()});
      return out;
    case Backend::kEtcd: out.cluster = std::make_unique<EtcdCluster>(EtcdClusterOptions{}); break;
    case Backend::kEtcdTls3:
      out.cluster = std::make_unique<EtcdCluster>(
          EtcdClusterOptions{.members = 3, .security = EtcdClusterOptions::Security::kTls});
      break;
  }
  auto store = EtcdStore::open(out.cluster->client_options());
  CHECK(store.has_value());
  out.store = std::move(*store);
  CHECK(EtcdCluster::wait_until_serving(*out.store, kPatienceMs).has_value(), "etcd serves");
  return out;
}

}  // namespace

std::string name_of(Backend backend) {
  switch (backend) {
    case Backend::kMem: return "mem";
    case Backend::kMemThread: return "mem_thread";
    case Backend::kEtcd: return "etcd";
    case Backend::kEtcdTls3: return "etcd_tls3";
  }
  CHECK(false);
  return {};
}

void KvContract::SetUp() {
  const Backend backend = GetParam();
  const bool real = backend == Backend::kEtcd || backend == Backend::kEtcdTls3;
  if (real && !EtcdCluster::missing().empty()) GTEST_SKIP() << EtcdCluster::missing();
  if (!shared().contains(backend)) shared().emplace(backend, open(backend));
  store_ = shared().at(backend).store.get();
  prefix_ = std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + "/";
}

Revision KvContract::must(Txn txn) {
  auto result = run(std::move(txn));
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  if (!result) return Revision(0);
  EXPECT_TRUE(result->succeeded);
  return result->revision;
}

Revision KvContract::must_put(const std::string& name, const std::string& value) {
  return must(ops({put(key(name), value)}));
}

Revision KvContract::must_erase(const std::string& name) { return must(ops({erase(key(name))})); }

ErrorCode KvContract::refused(Txn txn) {
  auto result = run(std::move(txn));
  EXPECT_FALSE(result);
  if (!result) std::cout << "    refused: " << result.error().message << "\n";
  return result ? ErrorCode::kInternal : result.error().code;
}

std::optional<KeyValue> KvContract::read(const std::string& name) {
  auto result = range_blocking(store(), single_key(key(name)), 0, kPatienceMs);
  EXPECT_TRUE(result);
  if (!result || result->kvs.empty()) return std::nullopt;
  return result->kvs.front();
}

std::vector<std::string> KvContract::dump() {
  auto result = range_blocking(store(), all(), 0, kPatienceMs);
  EXPECT_TRUE(result);
  std::vector<std::string> out;
  if (!result) return out;
  for (const KeyValue& kv : result->kvs) {
    out.push_back(kv.key.substr(prefix_.size()) + "=" + kv.value);
  }
  return out;
}

Txn ops(std::vector<Op> success) {
  Txn txn;
  txn.success = std::move(success);
  return txn;
}

// --- Recorder

void Recorder::on_watch_created(Revision revision) {
  const std::scoped_lock lock(mutex_);
  EXPECT_FALSE(created_) << "created twice";
  created_ = revision;
  wake_.notify_all();
}

void Recorder::on_watch_events(std::vector<WatchEvent> events, Revision revision) {
  const std::scoped_lock lock(mutex_);
  EXPECT_TRUE(created_) << "events before created";
  EXPECT_FALSE(ended_) << "events after the end";
  EXPECT_FALSE(events.empty());
  calls_.push_back(Call{std::move(events), revision});
  wake_.notify_all();
}

void Recorder::on_watch_ended(Error error) {
  const std::scoped_lock lock(mutex_);
  EXPECT_FALSE(ended_) << "ended twice";
  ended_ = std::move(error);
  wake_.notify_all();
}

bool Recorder::wait(const std::function<bool()>& condition, std::int64_t ms) {
  std::unique_lock lock(mutex_);
  return wake_.wait_for(lock, std::chrono::milliseconds(ms), condition);
}

bool Recorder::ends_within(std::int64_t ms) {
  return wait([this] { return ended_.has_value(); }, ms);
}

Revision Recorder::wait_created() {
  EXPECT_TRUE(wait([this] { return created_.has_value(); })) << "the watch was not created";
  const std::scoped_lock lock(mutex_);
  return created_.value_or(Revision(0));
}

ErrorCode Recorder::wait_ended() {
  EXPECT_TRUE(wait([this] { return ended_.has_value(); })) << "the watch did not end";
  const std::scoped_lock lock(mutex_);
  return ended_ ? ended_->code : ErrorCode::kInternal;
}

void Recorder::wait_key(const std::string& key) {
  EXPECT_TRUE(wait([&] {
    for (const Call& call : calls_) {
      for (const WatchEvent& event : call.events) {
        if (event.kv.key == key) return true;
      }
    }
    return false;
  })) << "no event of "
      << key << (created_ ? "; created" : "; not created")
      << (ended_ ? "; ended: " + ended_->message : "");
}

std::vector<Recorder::Call> Recorder::calls() const {
  const std::scoped_lock lock(mutex_);
  return calls_;
}

std::vector<std::string> Recorder::seen() const {
  std::vector<std::string> out;
  for (const Call& call : calls()) {
    for (const WatchEvent& event : call.events) {
      out.push_back((event.deleted ? "-" : "+") + event.kv.key + "@" +
                    std::to_string(event.kv.mod_revision.value()));
    }
  }
  return out;
}

std::size_t Recorder::bytes() const {
  std::size_t out = 0;
  for (const Call& call : calls()) {
    for (const WatchEvent& event : call.events) out += event.kv.value.size();
  }
  return out;
}

}  // namespace symnas::kv::testing
