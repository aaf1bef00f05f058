#include "common/kv/mem/faults.h"

#include <utility>

namespace symnas::kv {

void ScriptedFaults::push(TxnFault fault, Matches matches) {
  const MutexLock lock(mutex_);
  txns_.push_back(Entry{fault, std::move(matches)});
}

void ScriptedFaults::push_leader_change(int txns) {
  const MutexLock lock(mutex_);
  for (int i = 0; i < txns; ++i) {
    const TxnFault::Kind kind = i == 0       ? TxnFault::Kind::kLeaderChange
                                : i % 2 == 1 ? TxnFault::Kind::kUnavailable
                                             : TxnFault::Kind::kReplyLost;
    txns_.push_back(Entry{TxnFault{.kind = kind}, nullptr});
  }
}

void ScriptedFaults::push_watch(WatchFault::Kind kind) {
  const MutexLock lock(mutex_);
  watches_.push_back(WatchFault{.kind = kind});
}

bool ScriptedFaults::empty() const {
  const MutexLock lock(mutex_);
  return txns_.empty() && watches_.empty();
}

TxnFault ScriptedFaults::next_txn(const Txn& txn) {
  const MutexLock lock(mutex_);
  if (txns_.empty() || (txns_.front().matches && !txns_.front().matches(txn))) return {};
  const TxnFault fault = txns_.front().fault;
  txns_.pop_front();
  return fault;
}

WatchFault ScriptedFaults::next_watch(Revision /*revision*/) {
  const MutexLock lock(mutex_);
  if (watches_.empty()) return {};
  const WatchFault fault = watches_.front();
  watches_.pop_front();
  return fault;
}

namespace {
constexpr std::uint64_t kWeightScale = 10'000;

// The kind whose weight the draw falls into; kNone when it falls beyond all weights.
template <class Kind>
Kind pick(std::int64_t draw, std::initializer_list<std::pair<Kind, int>> weights) {
  for (const auto& [kind, weight] : weights) {
    if (draw < weight) return kind;
    draw -= weight;
  }
  return Kind::kNone;
}
}  // namespace

TxnFault SeededFaults::fault_of(TxnFault::Kind kind) {
  TxnFault fault{.kind = kind};
  fault.delay_ns = static_cast<std::int64_t>(
      random_.below(static_cast<std::uint64_t>(weights_.delay_ns_max) + 1));
  fault.after_txns =
      static_cast<int>(random_.below(static_cast<std::uint64_t>(weights_.after_txns_max) + 1));
  return fault;
}

TxnFault SeededFaults::spoiled() {
  --spoiled_left_;
  switch (random_.below(4)) {
    case 0: return fault_of(TxnFault::Kind::kUnavailable);
    case 1: return fault_of(TxnFault::Kind::kReplyLost);
    case 2: return fault_of(TxnFault::Kind::kCommitLate);
    default: return fault_of(TxnFault::Kind::kRequestLost);
  }
}

TxnFault SeededFaults::next_txn(const Txn& /*txn*/) {
  using Kind = TxnFault::Kind;
  const MutexLock lock(mutex_);
  if (spoiled_left_ > 0) return spoiled();
  const auto draw = static_cast<std::int64_t>(random_.below(kWeightScale));
  const Kind kind = pick<Kind>(draw, {{Kind::kConflict, weights_.conflict},
                                      {Kind::kUnavailable, weights_.unavailable},
                                      {Kind::kRequestLost, weights_.request_lost},
                                      {Kind::kReplyLost, weights_.reply_lost},
                                      {Kind::kCommitLate, weights_.commit_late},
                                      {Kind::kDuplicate, weights_.duplicate},
                                      {Kind::kDelay, weights_.delay},
                                      {Kind::kCompactBefore, weights_.compact},
                                      {Kind::kLeaderChange, weights_.leader_change}});
  if (kind == Kind::kLeaderChange) spoiled_left_ = weights_.leader_change_txns;
  return fault_of(kind);
}

WatchFault SeededFaults::next_watch(Revision /*revision*/) {
  using Kind = WatchFault::Kind;
  const MutexLock lock(mutex_);
  const auto draw = static_cast<std::int64_t>(random_.below(kWeightScale));
  WatchFault fault;
  fault.kind = pick<Kind>(draw, {{Kind::kDropEvent, weights_.watch_drop_event},
                                 {Kind::kDropRevision, weights_.watch_drop_revision},
                                 {Kind::kEnd, weights_.watch_end},
                                 {Kind::kEndCompacted, weights_.watch_end_compacted},
                                 {Kind::kDelay, weights_.watch_delay}});
  fault.delay_ns = static_cast<std::int64_t>(
      random_.below(static_cast<std::uint64_t>(weights_.delay_ns_max) + 1));
  return fault;
}

void SeededFaults::stop() {
  const MutexLock lock(mutex_);
  spoiled_left_ = 0;
  FaultWeights none;
  none.delay_ns_max = weights_.delay_ns_max;
  weights_ = none;
}

}  // namespace symnas::kv
