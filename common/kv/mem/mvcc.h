// Mvcc: etcd's state machine without etcd: keys with versions and revisions, transactions, history.
// Pure: no lock, clock, thread or fault.
//
// Thread class: thread-compatible.
// Invariants: the revision grows by one per transaction that changed something and by nothing else;
// the history holds every event of the revisions [compacted_revision(), revision()]. Source:
// etcd 3.5 server/etcdserver/apply.go, api/v3rpc/key.go, mvcc/kvstore_txn.go.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/kv/mem/limits.h"
#include "common/kv/store.h"

namespace symnas::kv {

// True when no branch of the transaction puts or deletes.
bool is_read_only(const Txn& txn);
// True when some branch puts: what a full quota refuses.
bool could_put(const Txn& txn);

class Mvcc {
 public:
  struct Limits {
    int txn_ops_max = kMemTxnOpsMax;
    std::int64_t request_bytes_max = kMemRequestBytesMax;
  };
  enum class Compares {
    kEvaluate,
    // Every innermost transaction that compares anything answers as if one compare had failed.
    kForceConflict,
  };

  Mvcc() = default;
  explicit Mvcc(Limits limits) : limits_(limits) {}

  // The checks that etcd makes before it proposes a transaction.
  // Errors: kTooLarge (ops of one list beyond txn_ops_max minus those of the lists around it, bytes
  // of a transaction that may write), kInvalidArgument (an empty key; two puts of one key in either
  // branch; a put inside a deleted range), kCompacted, kOutOfRange (a range read at a revision that
  // is gone, or not yet there).
  Status validate(const Txn& txn) const;

  // Executes. All compares see the state before the call. REQUIRES: validate(txn) has passed.
  TxnResult apply(const Txn& txn, Compares compares = Compares::kEvaluate);

  // The events of the last apply() that changed something, in order of execution.
  const std::vector<WatchEvent>& last_events() const { return last_events_; }

  // Forgets the history before `revision`.
  // Errors: kCompacted (done before), kOutOfRange (beyond the current revision).
  Status compact(Revision revision);

  // The events of a range from `first` on, one element per revision that has any.
  // REQUIRES: first >= compacted_revision().
  std::vector<std::vector<WatchEvent>> history(const KeyRange& range, Revision first) const;

  Revision revision() const { return Revision(revision_); }
  Revision compacted_revision() const { return Revision(compacted_); }
  std::int64_t bytes() const { return bytes_; }
  const std::map<std::string, KeyValue, std::less<>>& keys() const { return keys_; }

 private:
  using Path = std::vector<bool>;  // compare outcomes along the way taken, outer before inner

  bool holds(const Compare& compare) const;
  void decide(const Txn& txn, Compares compares, Path& path) const;
  TxnResult execute(const Txn& txn, const Path& path, std::size_t& step);
  OpResult execute_op(const Op& op, const Path& path, std::size_t& step);
  Status check_revisions(const std::vector<Op>& ops) const;
  OpResult read(const Op& op) const;
  // The keys of the range as they were at `revision`; keys that did not exist are left out.
  std::map<std::string, KeyValue, std::less<>> keys_at(const KeyRange& range,
                                                       Revision revision) const;
  void remember(const std::string& key, const KeyValue& before);
  void write(const std::string& key, const std::string& value);
  std::int64_t remove(const KeyRange& range);

  Limits limits_;
  std::map<std::string, KeyValue, std::less<>> keys_;
  std::map<std::int64_t, std::vector<WatchEvent>> history_;
  // What each revision of the history has replaced, in order; version 0 = there was nothing.
  std::map<std::int64_t, std::vector<KeyValue>> replaced_;
  std::vector<WatchEvent> last_events_;
  std::vector<WatchEvent> changes_;  // of the transaction that is being executed
  std::int64_t revision_ = 1;        // etcd's first revision
  std::int64_t compacted_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace symnas::kv
