#include "common/kv/etcd/etcd_store.h"

#include <chrono>
#include <future>
#include <utility>

#include "common/base/instance_counters.h"
#include "common/kv/etcd/calls.h"
#include "common/kv/etcd/limits.h"
#include "common/kv/etcd/loop.h"
#include "common/kv/etcd/members.h"
#include "common/kv/etcd/watch_stream.h"

namespace symnas::kv {

namespace {

etcd::SteadyClock::time_point after_ms(std::int64_t ms) {
  return etcd::SteadyClock::now() + std::chrono::milliseconds(ms);
}

TxnCallback counted(TxnCallback done) {
  return [begun = etcd::SteadyClock::now(), done = std::move(done)](Result<TxnResult> result) {
    const auto took = etcd::SteadyClock::now() - begun;
    instance_counters().etcd_answered(
        std::chrono::duration_cast<std::chrono::microseconds>(took).count());
    if (!result) ++instance_counters().etcd_failures;
    done(std::move(result));
  };
}

class EtcdWatch final : public Watch {
 public:
  EtcdWatch(std::weak_ptr<etcd::Loop> loop, std::shared_ptr<etcd::WatchStream> stream)
      : loop_(std::move(loop)), stream_(std::move(stream)) {}
  ~EtcdWatch() override {
    stream_->silence();
    if (const auto loop = loop_.lock()) loop->cancel(stream_);
  }

 private:
  std::weak_ptr<etcd::Loop> loop_;
  std::shared_ptr<etcd::WatchStream> stream_;
};

}  // namespace

Result<std::unique_ptr<EtcdStore>> EtcdStore::open(const EtcdOptions& options) {
  SYMNAS_ASSIGN(etcd::Connection connection, etcd::read_connection(options));
  SYMNAS_ASSIGN(std::shared_ptr<etcd::Loop> loop,
                etcd::Loop::start(std::move(connection), options.network_namespace));
  return std::unique_ptr<EtcdStore>(new EtcdStore(std::move(loop)));
}

EtcdStore::~EtcdStore() { loop_->stop(); }

void EtcdStore::txn(Txn txn, TryOptions options, TxnCallback done) {
  loop_->submit(std::make_shared<etcd::TxnCall>(*loop_, after_ms(options.timeout_ms), txn,
                                                counted(std::move(done))));
}

std::unique_ptr<Watch> EtcdStore::watch(KeyRange range, Revision start_revision,
                                        WatchHandler* handler) {
  auto stream = std::make_shared<etcd::WatchStream>(*loop_, after_ms(kWatchOpenTimeoutMs), range,
                                                    start_revision, handler);
  auto watch = std::make_unique<EtcdWatch>(loop_, stream);
  loop_->submit(std::move(stream));
  return watch;
}

void EtcdStore::leave(const std::string& host) { loop_->leave(host); }

Status EtcdStore::compact(Revision revision, TryOptions options) {
  auto outcome = std::make_shared<std::promise<Status>>();
  std::future<Status> future = outcome->get_future();
  loop_->submit(std::make_shared<etcd::CompactCall>(
      *loop_, after_ms(options.timeout_ms), revision,
      [outcome](Status status) { outcome->set_value(std::move(status)); }));
  return future.get();
}

std::vector<MemberStatus> EtcdStore::status(TryOptions options) {
  std::vector<std::future<MemberStatus>> answers;
  for (std::size_t i = 0; i < loop_->members(); ++i) {
    auto outcome = std::make_shared<std::promise<MemberStatus>>();
    answers.push_back(outcome->get_future());
    loop_->submit(std::make_shared<etcd::StatusCall>(
        *loop_, after_ms(options.timeout_ms), i,
        [outcome](MemberStatus status) { outcome->set_value(std::move(status)); }));
  }
  std::vector<MemberStatus> out;
  for (auto& answer : answers) out.push_back(answer.get());
  return out;
}

}  // namespace symnas::kv
