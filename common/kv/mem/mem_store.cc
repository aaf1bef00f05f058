#include "common/kv/mem/mem_store.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "common/base/check.h"
#include "common/base/thread_annotations.h"
#include "common/kv/mem/watch_queue.h"

namespace symnas::kv {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

Error over_quota() {
  return {ErrorCode::kNoSpace, "store quota is full: free space, compact, then disarm"};
}
Error unknown_outcome() {
  return Error{ErrorCode::kUnknownOutcome, "injected: no reply within the time-out"};
}
Error unavailable() { return Error{ErrorCode::kUnavailable, "injected: member not reachable"}; }

std::int64_t draw_latency_ns(const std::shared_ptr<env::Random>& random, std::int64_t max_ns) {
  if (random == nullptr || max_ns <= 0) return max_ns;
  return static_cast<std::int64_t>(random->below(static_cast<std::uint64_t>(max_ns) + 1));
}

class MemWatch final : public Watch {
 public:
  explicit MemWatch(std::shared_ptr<mem::WatchQueue> queue) : queue_(std::move(queue)) {}
  ~MemWatch() override { queue_->cancel(); }

 private:
  std::shared_ptr<mem::WatchQueue> queue_;
};

}  // namespace

// --- the server ------------------------------------------------------------------------------

struct MemServer::State {
  explicit State(Mvcc::Limits limits) : mvcc(limits) {}

  using Queues = std::vector<std::shared_ptr<mem::WatchQueue>>;
  // Calls `push` with every live watch; returns those for which it answered true.
  template <class Push>
  Queues push_to_watches(Push push) REQUIRES(mutex) {
    Queues touched;
    std::erase_if(watches, [&](const std::weak_ptr<mem::WatchQueue>& weak) {
      auto queue = weak.lock();
      if (queue == nullptr) return true;
      if (push(*queue)) touched.push_back(std::move(queue));
      return false;
    });
    return touched;
  }

  mutable Mutex mutex;
  Mvcc mvcc GUARDED_BY(mutex);
  bool quota_full GUARDED_BY(mutex) = false;
  std::vector<std::weak_ptr<mem::WatchQueue>> watches GUARDED_BY(mutex);
};

MemServer::MemServer(Mvcc::Limits limits) : state_(std::make_unique<State>(limits)) {}
MemServer::~MemServer() = default;

void MemServer::set_quota(Quota quota) {
  const MutexLock lock(state_->mutex);
  state_->quota_full = quota == Quota::kFull;
}

void MemServer::end_watches() {
  State::Queues ended;
  {
    const MutexLock lock(state_->mutex);
    ended = state_->push_to_watches([](mem::WatchQueue& queue) {
      queue.push_end(Error{ErrorCode::kUnavailable, "injected: leader changed"});
      return true;
    });
    state_->watches.clear();
  }
  for (const auto& queue : ended) queue->schedule_delivery();
}

Revision MemServer::revision() const {
  const MutexLock lock(state_->mutex);
  return state_->mvcc.revision();
}

Revision MemServer::compacted_revision() const {
  const MutexLock lock(state_->mutex);
  return state_->mvcc.compacted_revision();
}

Status MemServer::compact(Revision revision) {
  const MutexLock lock(state_->mutex);
  return state_->mvcc.compact(revision);
}

std::vector<KeyValue> MemServer::dump() const {
  const MutexLock lock(state_->mutex);
  std::vector<KeyValue> out;
  for (const auto& [key, kv] : state_->mvcc.keys()) out.push_back(kv);
  return out;
}

MemberStatus MemServer::status() const {
  const MutexLock lock(state_->mutex);
  MemberStatus status;
  status.endpoint = "mem";
  status.reachable = true;
  status.leader = true;
  status.current = true;
  status.no_space_alarm = state_->quota_full;
  status.db_size_bytes = state_->mvcc.bytes();
  status.db_in_use_bytes = state_->mvcc.bytes();
  status.revision = state_->mvcc.revision();
  return status;
}

Result<TxnResult> MemServer::execute(const Txn& txn, Mvcc::Compares compares) {
  State::Queues touched;
  TxnResult result;
  {
    const MutexLock lock(state_->mutex);
    SYMNAS_TRY(state_->mvcc.validate(txn));
    if (state_->quota_full && could_put(txn)) {
      return tl::unexpected<Error>(over_quota());
    }
    const Revision before = state_->mvcc.revision();
    result = state_->mvcc.apply(txn, compares);
    if (state_->mvcc.revision() != before) {
      const auto& events = state_->mvcc.last_events();
      touched = state_->push_to_watches(
          [&events](mem::WatchQueue& queue) { return queue.push_events(events); });
    }
  }
  for (const auto& queue : touched) queue->schedule_delivery();
  return result;
}

// --- the client ------------------------------------------------------------------------------

// Callbacks that have not been called yet. An event of the scheduler may outlive its store; it then
// finds nothing here.
class mem::Requests {
 public:
  enum class Kind { kReadOnly, kMayWrite };

  std::uint64_t add(Kind kind, TxnCallback done) {
    const MutexLock lock(mutex_);
    pending_.emplace(++last_id_, Pending{kind, std::move(done)});
    return last_id_;
  }
  // Calls the callback, unless somebody already has.
  void finish(std::uint64_t id, Result<TxnResult> result) {
    std::optional<Pending> pending;
    {
      const MutexLock lock(mutex_);
      const auto it = pending_.find(id);
      if (it == pending_.end()) return;
      pending = std::move(it->second);
      pending_.erase(it);
    }
    if (!result && result.error().code == ErrorCode::kUnknownOutcome &&
        pending->kind == Kind::kReadOnly) {
      result = tl::unexpected<Error>(unavailable());  // a read has no unknown outcome
    }
    pending->done(std::move(result));
  }
  std::vector<std::uint64_t> ids() const {
    const MutexLock lock(mutex_);
    std::vector<std::uint64_t> out;
    for (const auto& [id, pending] : pending_) out.push_back(id);
    return out;
  }

 private:
  struct Pending {
    Kind kind = Kind::kMayWrite;
    TxnCallback done;
  };
  mutable Mutex mutex_;
  std::map<std::uint64_t, Pending> pending_ GUARDED_BY(mutex_);
  std::uint64_t last_id_ GUARDED_BY(mutex_) = 0;
};

// State of a store between calls: its watches, and the transactions that kCommitLate and kDuplicate
// put off (with an immediate scheduler).
class MemStore::Local {
 public:
  void put_off(Late late) {
    const MutexLock lock(mutex_);
    late_.push_back(std::move(late));
  }
  // Removes and returns the transactions whose turn it is; the count of the others goes down by
  // one.
  std::vector<Late> take_due() {
    const MutexLock lock(mutex_);
    std::vector<Late> due;
    std::erase_if(late_, [&due](Late& late) {
      if (late.after_txns-- > 0) return false;
      due.push_back(std::move(late));
      return true;
    });
    return due;
  }
  std::vector<Late> take_all() {
    const MutexLock lock(mutex_);
    return std::exchange(late_, {});
  }
  void add_watch(const std::shared_ptr<mem::WatchQueue>& queue) {
    const MutexLock lock(mutex_);
    std::erase_if(watches_, [](const auto& weak) { return weak.expired(); });
    watches_.push_back(queue);
  }
  std::vector<std::weak_ptr<mem::WatchQueue>> take_watches() {
    const MutexLock lock(mutex_);
    return std::exchange(watches_, {});
  }

 private:
  Mutex mutex_;
  std::vector<Late> late_ GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<mem::WatchQueue>> watches_ GUARDED_BY(mutex_);
};

MemStore::MemStore(MemStoreOptions options)
    : server_(options.server ? std::move(options.server) : std::make_shared<MemServer>()),
      scheduler_(options.scheduler ? std::move(options.scheduler)
                                   : std::make_shared<InlineScheduler>()),
      faults_(std::move(options.faults)),
      random_(std::move(options.random)),
      latency_ns_max_(options.latency_ns_max),
      requests_(std::make_shared<mem::Requests>()),
      local_(std::make_unique<Local>()) {}

MemStore::~MemStore() {
  for (const auto& weak : local_->take_watches()) {
    if (auto queue = weak.lock()) queue->end(Error{ErrorCode::kShutdown, "store closed"});
  }
  for (const std::uint64_t id : requests_->ids()) {
    requests_->finish(id, fail(ErrorCode::kShutdown, "store closed"));
  }
}

std::int64_t MemStore::latency_ns() { return draw_latency_ns(random_, latency_ns_max_); }

void MemStore::answer(std::uint64_t id, Result<TxnResult> result) {
  scheduler_->schedule(latency_ns(),
                       [requests = requests_, id, result = std::move(result)]() mutable {
                         requests->finish(id, std::move(result));
                       });
}

void MemStore::txn(Txn txn, TryOptions options, TxnCallback done) {
  const TxnFault fault = faults_ ? faults_->next_txn(txn) : TxnFault{};
  const auto kind =
      is_read_only(txn) ? mem::Requests::Kind::kReadOnly : mem::Requests::Kind::kMayWrite;
  const std::uint64_t id = requests_->add(kind, std::move(done));
  if (fault.kind == TxnFault::Kind::kLeaderChange) server_->end_watches();
  if (scheduler_->immediate()) {
    submit_immediate(id, std::move(txn), fault);
  } else {
    submit_timed(id, std::move(txn), fault, options.timeout_ms * kNsPerMs);
  }
}

namespace {
Mvcc::Compares compares_under(const TxnFault& fault) {
  return fault.kind == TxnFault::Kind::kConflict ? Mvcc::Compares::kForceConflict
                                                 : Mvcc::Compares::kEvaluate;
}
void compact_before(MemServer& server, const TxnFault& fault) {
  if (fault.kind != TxnFault::Kind::kCompactBefore) return;
  // kCompacted (nothing new since the last compaction) serves as well.
  static_cast<void>(server.compact(server.revision()));
}
}  // namespace

void MemStore::submit_immediate(std::uint64_t id, Txn txn, TxnFault fault) {
  for (const Late& late : local_->take_due()) {
    static_cast<void>(server_->execute(late.txn, Mvcc::Compares::kEvaluate));
  }
  using Kind = TxnFault::Kind;
  switch (fault.kind) {
    case Kind::kNone:
    case Kind::kConflict:
    case Kind::kDelay:
    case Kind::kCompactBefore:
    case Kind::kDuplicate: {
      compact_before(*server_, fault);
      answer(id, server_->execute(txn, compares_under(fault)));
      break;
    }
    case Kind::kUnavailable: answer(id, tl::unexpected<Error>(unavailable())); break;
    case Kind::kOverQuota:
      static_cast<void>(server_->execute(txn, Mvcc::Compares::kEvaluate));
      answer(id, tl::unexpected<Error>(over_quota()));
      break;
    case Kind::kReplyLost:
      static_cast<void>(server_->execute(txn, Mvcc::Compares::kEvaluate));
      [[fallthrough]];
    case Kind::kRequestLost:
    case Kind::kLeaderChange:
    case Kind::kCommitLate: answer(id, tl::unexpected<Error>(unknown_outcome())); break;
  }
  if (fault.kind == Kind::kCommitLate || fault.kind == Kind::kDuplicate) {
    local_->put_off(Late{std::move(txn), fault.after_txns});
  }
}

void MemStore::run_late() {
  for (const Late& late : local_->take_all()) {
    static_cast<void>(server_->execute(late.txn, Mvcc::Compares::kEvaluate));
  }
}

void MemStore::submit_timed(std::uint64_t id, Txn txn, TxnFault fault, std::int64_t timeout_ns) {
  using Kind = TxnFault::Kind;
  scheduler_->schedule(timeout_ns, [requests = requests_, id] {
    requests->finish(id, tl::unexpected<Error>(unknown_outcome()));
  });
  if (fault.kind == Kind::kRequestLost || fault.kind == Kind::kLeaderChange) return;
  if (fault.kind == Kind::kUnavailable) {
    answer(id, tl::unexpected<Error>(unavailable()));
    return;
  }
  auto shared = std::make_shared<const Txn>(std::move(txn));
  if (fault.kind == Kind::kDuplicate) {
    scheduler_->schedule(latency_ns() + fault.delay_ns, [server = server_, shared] {
      static_cast<void>(server->execute(*shared, Mvcc::Compares::kEvaluate));
    });
  }
  std::int64_t delay_ns = latency_ns();
  if (fault.kind == Kind::kDelay) delay_ns += fault.delay_ns;
  if (fault.kind == Kind::kCommitLate) delay_ns += timeout_ns + fault.delay_ns;
  // The request may reach the server after this store is gone, so the event owns what it needs.
  scheduler_->schedule(delay_ns, [server = server_, scheduler = scheduler_, requests = requests_,
                                  shared, fault, id, reply_ns = latency_ns()] {
    compact_before(*server, fault);
    auto result = server->execute(*shared, compares_under(fault));
    if (fault.kind == Kind::kReplyLost) return;
    if (fault.kind == Kind::kOverQuota) result = tl::unexpected<Error>(over_quota());
    scheduler->schedule(reply_ns, [requests, id, result = std::move(result)]() mutable {
      requests->finish(id, std::move(result));
    });
  });
}

std::unique_ptr<Watch> MemStore::watch(KeyRange range, Revision start_revision,
                                       WatchHandler* handler) {
  std::shared_ptr<mem::WatchQueue> queue;
  int deliveries = 1;
  {
    MemServer::State& state = *server_->state_;
    const MutexLock lock(state.mutex);
    const bool from_now = start_revision.value() == 0;
    const Revision first = from_now ? Revision(state.mvcc.revision().value() + 1) : start_revision;
    queue = std::make_shared<mem::WatchQueue>(
        range, first, handler, scheduler_, faults_,
        [random = random_, max_ns = latency_ns_max_] { return draw_latency_ns(random, max_ns); });
    queue->push_created(Revision(first.value() - 1));
    if (first < state.mvcc.compacted_revision()) {
      queue->push_end(Error{ErrorCode::kCompacted, "watch start revision is compacted"});
      ++deliveries;
    } else {
      for (const auto& events : state.mvcc.history(range, first)) {
        queue->push_events(events);
        ++deliveries;
      }
      state.watches.push_back(queue);
    }
  }
  local_->add_watch(queue);
  for (int i = 0; i < deliveries; ++i) queue->schedule_delivery();
  return std::make_unique<MemWatch>(std::move(queue));
}

Status MemStore::compact(Revision revision, TryOptions /*options*/) {
  return server_->compact(revision);
}

std::vector<MemberStatus> MemStore::status(TryOptions /*options*/) { return {server_->status()}; }

}  // namespace symnas::kv
