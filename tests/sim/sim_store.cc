#include "tests/sim/sim_store.h"

#include <string>
#include <utility>

#include "common/base/bytes.h"

namespace symnas::sim {

namespace {

class Events final : public kv::Scheduler {
 public:
  void schedule(std::int64_t delay_ns, std::function<void()> event) override {
    post(delay_ns, std::move(event));
  }
  bool immediate() const override { return false; }
};

class SharedRandom final : public env::Random {
 public:
  std::uint64_t next() override { return draw(); }
};

kv::MemStoreOptions options_of(const std::shared_ptr<kv::MemServer>& server,
                               std::shared_ptr<kv::FaultPlan> faults, std::int64_t latency_ns_max) {
  kv::MemStoreOptions options;
  options.server = server;
  options.scheduler = std::make_shared<Events>();
  options.faults = std::move(faults);
  options.latency_ns_max = latency_ns_max;
  options.random = std::make_shared<SharedRandom>();
  return options;
}

const char* outcome_of(const Result<kv::TxnResult>& result) {
  if (!result) return to_string(result.error().code).data();
  return result->succeeded ? "held" : "not held";
}

// The keys of operations that do nothing but erase one key.
std::vector<std::string> lone_erases(const kv::Txn& batch) {
  std::vector<std::string> keys;
  for (const kv::Op& nested : batch.success) {
    // The second operation puts the slot operation key.
    if (nested.txn && nested.txn->success.size() == 2 &&
        nested.txn->success.front().kind == kv::Op::Kind::kDelete)
      keys.push_back(nested.txn->success.front().range.key);
  }
  return keys;
}

}  // namespace

// What a transaction reads and changes: "put wI16", in the tables of common/kv/keys.h.
std::string keys_of(const kv::Txn& txn) {
  std::string out;
  for (const kv::Op& op : txn.success) {
    if (op.txn) {
      out += " {" + keys_of(*op.txn) + " }";
      continue;
    }
    const std::string& key = op.range.key;
    out += op.kind == kv::Op::Kind::kPut     ? ", put "
           : op.kind == kv::Op::Kind::kRange ? ", get "
                                             : ", erase ";
    if (!key.starts_with("f/") || key.size() < 8) {
      out += key;
      continue;
    }
    out += key.substr(6, 2);
    if (key.size() == 12) out += std::to_string(read_be32(key, 8));
    for (std::size_t at = 8; at + 8 <= key.size(); at += 8) {
      out += (at == 8 ? "" : "/") + std::to_string(read_be64(key, at));
    }
  }
  return out;
}

// --- faults

SimFaults::SimFaults(const kv::FaultWeights& weights) : faults_(draw(), weights) {}

kv::FaultWeights SimFaults::draw_weights() {
  const auto weight = [](std::uint64_t bound) {
    return below(2) == 0 ? 0 : static_cast<int>(below(bound));
  };
  kv::FaultWeights weights;
  if (below(5) == 0) return weights;  // a quiet seed: the other faults come alone
  weights.unavailable = weight(500);
  weights.request_lost = weight(300);
  weights.reply_lost = weight(600);
  weights.commit_late = weight(400);
  weights.duplicate = weight(800);
  weights.delay = weight(800);
  weights.compact = weight(300);
  weights.watch_drop_revision = weight(400);
  weights.watch_end = weight(200);
  weights.watch_end_compacted = weight(100);
  weights.watch_delay = weight(800);
  weights.delay_ns_max = below(2) == 0 ? 20'000'000 : 900'000'000;  // beyond a try's time-out
  return weights;
}

kv::TxnFault SimFaults::next_txn(const kv::Txn& txn) {
  using Kind = kv::TxnFault::Kind;
  if (!partitioned_) return faults_.next_txn(txn);
  kv::TxnFault fault;
  switch (below(4)) {
    case 0: fault.kind = Kind::kUnavailable; break;
    case 1: fault.kind = Kind::kReplyLost; break;
    case 2:
      fault.kind = Kind::kCommitLate;
      fault.delay_ns = static_cast<std::int64_t>(below(2'000'000'000));
      break;
    default: fault.kind = Kind::kRequestLost; break;
  }
  return fault;
}

kv::WatchFault SimFaults::next_watch(Revision revision) {
  if (!partitioned_) return faults_.next_watch(revision);
  return {.kind = kv::WatchFault::Kind::kDelay,
          .delay_ns = static_cast<std::int64_t>(below(3'000'000'000))};
}

bool SimFaults::refuses(const kv::Txn& txn) const {
  return refuse_late_ppm_ > 0 && kv::could_put(txn) && chance(refuse_late_ppm_);
}

void SimFaults::note_erases(const std::vector<std::string>& keys,
                            const Result<kv::TxnResult>& result) const {
  if (unerased_ == nullptr) return;
  if (!result && result.error().code == ErrorCode::kNoSpace) {
    unerased_->insert(keys.begin(), keys.end());
  } else if (result && result->succeeded) {
    for (const std::string& key : keys) unerased_->erase(key);
  }
}

void SimFaults::stop() {
  partitioned_ = false;
  refuse_late_ppm_ = 0;
  faults_.stop();
}

// --- the store

class SimStore::Relay final : public kv::WatchHandler, public std::enable_shared_from_this<Relay> {
 public:
  Relay(kv::WatchHandler* handler, std::shared_ptr<Inbox> inbox)
      : handler_(handler), inbox_(std::move(inbox)) {}

  void on_watch_created(Revision revision) override {
    deliver([this, revision] { handler_->on_watch_created(revision); });
  }
  void on_watch_events(std::vector<kv::WatchEvent> events, Revision revision) override {
    deliver([this, revision, events = std::move(events)] {
      handler_->on_watch_events(events, revision);
    });
  }
  void on_watch_ended(Error error) override {
    deliver([this, error = std::move(error)] { handler_->on_watch_ended(error); });
  }
  // The connection breaks: messages under way are lost.
  void end() {
    if (watch == nullptr) return;
    {
      const NoSwitch no_switch;
      watch.reset();
    }
    on_watch_ended(Error{ErrorCode::kUnavailable, "injected: leader changed"});
  }
  void cancel() {
    cancelled_ = true;
    wait_until(this, "a watch's last call", [this] { return !running_; });
    const NoSwitch no_switch;
    watch.reset();
  }

  std::unique_ptr<kv::Watch> watch;

 private:
  void deliver(std::function<void()> call) {
    inbox_->push([self = shared_from_this(), call = std::move(call)] {
      if (self->cancelled_) return;
      self->running_ = true;
      call();
      self->running_ = false;
      wake(self.get());
    });
  }

  kv::WatchHandler* const handler_;
  const std::shared_ptr<Inbox> inbox_;
  bool cancelled_ = false;
  bool running_ = false;
};

class SimStore::RelayWatch final : public kv::Watch {
 public:
  explicit RelayWatch(std::shared_ptr<Relay> relay) : relay_(std::move(relay)) {}
  ~RelayWatch() override { relay_->cancel(); }

 private:
  const std::shared_ptr<Relay> relay_;
};

SimStore::SimStore(Process& process, const std::shared_ptr<kv::MemServer>& server,
                   std::shared_ptr<SimFaults> faults, std::int64_t latency_ns_max)
    : faults_(std::move(faults)),
      inbox_(Inbox::open(process, "kv-receive")),
      store_(std::make_unique<kv::MemStore>(options_of(server, faults_, latency_ns_max))) {}

void SimStore::txn(kv::Txn txn, kv::TryOptions options, kv::TxnCallback done) {
  preemption_point();
  {
    const NoSwitch no_switch;
    const bool refused = faults_ != nullptr && faults_->refuses(txn);
    const std::uint64_t number = ++sent_;
    trace("txn %llu: %zu compares, %zu operations%s%s", static_cast<unsigned long long>(number),
          txn.compares.size(), txn.success.size(), refused ? ", to be refused late" : "",
          keys_of(txn).c_str());
    std::vector<std::string> erased = lone_erases(txn);
    store_->txn(std::move(txn), options,
                [inbox = inbox_, number, refused, faults = faults_, erased = std::move(erased),
                 done = std::move(done)](Result<kv::TxnResult> result) mutable {
                  if (refused && result && result->succeeded) {
                    result = symnas::fail(ErrorCode::kNoSpace, "injected: executed, then refused");
                  }
                  if (faults != nullptr) faults->note_erases(erased, result);
                  trace("txn %llu of %s: %s", static_cast<unsigned long long>(number),
                        inbox->process().name().c_str(), outcome_of(result));
                  inbox->push([done = std::move(done), result = std::move(result)]() mutable {
                    done(std::move(result));
                  });
                });
  }
  preemption_point();
}

std::unique_ptr<kv::Watch> SimStore::watch(kv::KeyRange range, Revision start,
                                           kv::WatchHandler* handler) {
  auto relay = std::make_shared<Relay>(handler, inbox_);
  const NoSwitch no_switch;
  trace("watch from %lld", static_cast<long long>(start.value()));
  relay->watch = store_->watch(std::move(range), start, relay.get());
  std::erase_if(relays_, [](const auto& weak) { return weak.expired(); });
  relays_.push_back(relay);
  return std::make_unique<RelayWatch>(std::move(relay));
}

void SimStore::end_watches() {
  for (const auto& weak : relays_) {
    if (const auto relay = weak.lock()) relay->end();
  }
}

Status SimStore::compact(Revision revision, kv::TryOptions options) {
  const NoSwitch no_switch;
  return store_->compact(revision, options);
}

std::vector<kv::MemberStatus> SimStore::status(kv::TryOptions options) {
  const NoSwitch no_switch;
  return store_->status(options);
}

// --- observer

Observer::Observer(const std::shared_ptr<kv::MemServer>& server, kv::KeyRange range,
                   OnRevision on_revision)
    : on_revision_(std::move(on_revision)),
      store_(std::make_unique<kv::MemStore>(options_of(server, nullptr, 0))) {
  const NoSwitch no_switch;
  watch_ = store_->watch(std::move(range), Revision{0}, this);
}

void Observer::on_watch_ended(Error error) { fail("the observer's watch ended: " + error.message); }

}  // namespace symnas::sim
