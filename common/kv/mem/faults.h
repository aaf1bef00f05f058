// Faults of the in-memory store: what goes wrong with a transaction or a watch.
//
// Thread class: FaultPlan implementations are thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "common/base/thread_annotations.h"
#include "common/env/random.h"
#include "common/kv/store.h"

namespace symnas::kv {

struct TxnFault {
  enum class Kind {
    kNone,
    kConflict,       // executed, but every innermost comparing transaction takes its failure branch
    kUnavailable,    // not executed: kUnavailable
    kRequestLost,    // not executed: kUnknownOutcome
    kReplyLost,      // executed, then kUnknownOutcome
    kOverQuota,      // executed, then kNoSpace: etcd's transaction that crosses the quota
    kCommitLate,     // kUnknownOutcome first, executed afterwards
    kDuplicate,      // executed and answered, executed again afterwards
    kDelay,          // executed `delay_ns` late (at once with an immediate scheduler)
    kCompactBefore,  // the whole history is compacted, then executed
    kLeaderChange,   // as kRequestLost, and every watch of the server ends with kUnavailable
  };
  Kind kind = Kind::kNone;
  std::int64_t delay_ns = 0;
  // kCommitLate and kDuplicate with an immediate scheduler: how many later transactions of this
  // store are executed first.
  int after_txns = 0;
};

struct WatchFault {
  enum class Kind {
    kNone,
    kDropEvent,     // the first event of the revision is lost
    kDropRevision,  // all events of the revision are lost
    kEnd,           // ended with kUnavailable before the revision
    kEndCompacted,  // ended with kCompacted before the revision
    kDelay,
  };
  Kind kind = Kind::kNone;
  std::int64_t delay_ns = 0;
};

class FaultPlan {
 public:
  virtual ~FaultPlan() = default;
  // Called once per submitted transaction / per revision delivered to a watch.
  virtual TxnFault next_txn(const Txn& txn) = 0;
  virtual WatchFault next_watch(Revision revision) = 0;
};

// Plays back the faults that a test has queued; no fault when the queue is empty.
class ScriptedFaults final : public FaultPlan {
 public:
  using Matches = std::function<bool(const Txn&)>;

  // The next transaction for which `matches` holds (null: the next one) suffers `fault`. Entries
  // are used in order: an entry waits until the one before it has been used.
  void push(TxnFault fault, Matches matches = nullptr);
  void push(TxnFault::Kind kind, Matches matches = nullptr) {
    push(TxnFault{.kind = kind}, std::move(matches));
  }
  // A leader change: watches end, and this many transactions fail, alternately with kUnknownOutcome
  // and kUnavailable.
  void push_leader_change(int txns);
  void push_watch(WatchFault::Kind kind);
  bool empty() const;

  TxnFault next_txn(const Txn& txn) override;
  WatchFault next_watch(Revision revision) override;

 private:
  struct Entry {
    TxnFault fault;
    Matches matches;
  };
  mutable Mutex mutex_;
  std::deque<Entry> txns_ GUARDED_BY(mutex_);
  std::deque<WatchFault> watches_ GUARDED_BY(mutex_);
};

// Draws faults from a seed. A weight is the number of faults in 10,000 transactions (or delivered
// revisions).
struct FaultWeights {
  int conflict = 0;
  int unavailable = 0;
  int request_lost = 0;
  int reply_lost = 0;
  int commit_late = 0;
  int duplicate = 0;
  int delay = 0;
  int compact = 0;
  int leader_change = 0;
  int leader_change_txns = 8;  // how many transactions fail in a leader change
  int watch_drop_event = 0;
  int watch_drop_revision = 0;
  int watch_end = 0;
  int watch_end_compacted = 0;
  int watch_delay = 0;
  std::int64_t delay_ns_max = 50'000'000;
  int after_txns_max = 4;
};

class SeededFaults final : public FaultPlan {
 public:
  SeededFaults(std::uint64_t seed, FaultWeights weights) : random_(seed), weights_(weights) {}

  TxnFault next_txn(const Txn& txn) override;
  WatchFault next_watch(Revision revision) override;
  // Draws no fault from now on, so that a run can come to its end.
  void stop();

 private:
  TxnFault fault_of(TxnFault::Kind kind) REQUIRES(mutex_);
  TxnFault spoiled() REQUIRES(mutex_);

  Mutex mutex_;
  env::SeededRandom random_ GUARDED_BY(mutex_);
  FaultWeights weights_ GUARDED_BY(mutex_);
  int spoiled_left_ GUARDED_BY(mutex_) = 0;
};

}  // namespace symnas::kv
