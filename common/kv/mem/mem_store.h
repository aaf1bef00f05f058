// MemStore: the complete Store in memory, with faults on request, for simulation and tests.
//   MemServer  the replicated log itself: keys, history, watches. Several stores (mounts, heads)
//              share one.
//   MemStore   one client's connection to it, with its own scheduler and its own faults.
// The scheduler runs the callbacks (scheduler.h). With the default, InlineScheduler, txn() returns
// after its answer has been given and every watch has been served, unless the caller is itself
// inside a callback.
//
// Thread class: thread-safe (with a SeededScheduler: confined to its thread).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/env/random.h"
#include "common/kv/mem/faults.h"
#include "common/kv/mem/limits.h"
#include "common/kv/mem/mvcc.h"
#include "common/kv/mem/scheduler.h"
#include "common/kv/store.h"

namespace symnas::kv {

namespace mem {
class WatchQueue;
class Requests;
}  // namespace mem

class MemServer {
 public:
  MemServer() : MemServer(Mvcc::Limits{}) {}
  explicit MemServer(Mvcc::Limits limits);
  ~MemServer();

  enum class Quota { kFree, kFull };
  // When full: kNoSpace for every transaction that could put; deletes and reads pass (as with
  // etcd's NOSPACE alarm).
  void set_quota(Quota quota);
  // Ends every watch with kUnavailable, as when a member goes away.
  void end_watches();

  Revision revision() const;
  Revision compacted_revision() const;
  Status compact(Revision revision);
  // Every key, ascending: a test compares this with its model.
  std::vector<KeyValue> dump() const;

 private:
  friend class MemStore;
  friend class mem::WatchQueue;
  struct State;

  Result<TxnResult> execute(const Txn& txn, Mvcc::Compares compares);
  MemberStatus status() const;

  std::unique_ptr<State> state_;
};

struct MemStoreOptions {
  std::shared_ptr<MemServer> server;     // null: a new one
  std::shared_ptr<Scheduler> scheduler;  // null: InlineScheduler
  std::shared_ptr<FaultPlan> faults;     // null: none
  // One-way latency in simulated time: uniform up to this, drawn from `random` (null: always the
  // maximum).
  std::int64_t latency_ns_max = kMemLatencyNsMax;
  std::shared_ptr<env::Random> random;
};

class MemStore final : public Store {
 public:
  MemStore() : MemStore(MemStoreOptions{}) {}
  explicit MemStore(MemStoreOptions options);
  // Pending callbacks get kShutdown, watches end with kShutdown.
  ~MemStore() override;
  MemStore(const MemStore&) = delete;
  MemStore& operator=(const MemStore&) = delete;

  void txn(Txn txn, TryOptions options, TxnCallback done) override;
  std::unique_ptr<Watch> watch(KeyRange range, Revision start_revision,
                               WatchHandler* handler) override;
  Status compact(Revision revision, TryOptions options) override;
  std::vector<MemberStatus> status(TryOptions options) override;

  MemServer& server() { return *server_; }
  // Executes now the transactions that kCommitLate and kDuplicate have put off (with an immediate
  // scheduler).
  void run_late();

 private:
  struct Late {
    Txn txn;
    int after_txns = 0;
  };
  class Local;

  void submit_immediate(std::uint64_t id, Txn txn, TxnFault fault);
  void submit_timed(std::uint64_t id, Txn txn, TxnFault fault, std::int64_t timeout_ns);
  void answer(std::uint64_t id, Result<TxnResult> result);
  std::int64_t latency_ns();

  std::shared_ptr<MemServer> server_;
  std::shared_ptr<Scheduler> scheduler_;
  std::shared_ptr<FaultPlan> faults_;
  std::shared_ptr<env::Random> random_;
  std::int64_t latency_ns_max_;
  std::shared_ptr<mem::Requests> requests_;
  std::unique_ptr<Local> local_;
};

}  // namespace symnas::kv
