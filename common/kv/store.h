// Store: a replicated, linearizable, multi-version key-value log (etcd v3 semantics), as far as
// symnas needs it. Two complete back ends: kv/etcd (real) and kv/mem (simulation and tests, with
// injectable faults).
//
// Thread class: thread-safe. Callbacks run on a thread of the store (etcd: the completion-queue
// thread; mem: the caller or the simulation's scheduler); they must not block and must not destroy
// the store. Semantics follow etcd 3.5 (api/etcdserverpb/rpc.proto, server/etcdserver/apply.go), in
// particular:
//  - all compares of a transaction, nested ones included, see the state before the outermost one;
//  - nested operations see the puts that ran before them in the same transaction;
//  - two puts of one key in one transaction, in either branch, are refused (kInvalidArgument);
//    holds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace symnas::kv {

struct KeyValue {
  std::string key;
  std::string value;
  Revision create_revision;
  Revision mod_revision;
  std::int64_t version = 0;  // puts since creation; 0 = does not exist
};

// [key, end); end empty = the single key. prefix_range() makes the range of all keys with a prefix.
struct KeyRange {
  std::string key;
  std::string end;
  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};
KeyRange single_key(std::string key);
KeyRange prefix_range(std::string prefix);
// True when the two ranges share a key.
bool overlap(const KeyRange& a, const KeyRange& b);
bool contains(const KeyRange& range, std::string_view key);

struct Compare {
  enum class Target { kVersion, kCreateRevision, kModRevision, kValue };
  enum class Relation { kEqual, kGreater, kLess, kNotEqual };
  KeyRange range;
  Target target = Target::kVersion;
  Relation relation = Relation::kEqual;
  std::int64_t number = 0;  // for kVersion, kCreateRevision, kModRevision
  std::string value;        // for kValue
};
Compare key_absent(std::string key);
Compare range_absent(KeyRange range);
Compare key_exists(std::string key);
Compare mod_revision_is(std::string key, Revision revision);     // revision 0 = absent
Compare create_revision_is(std::string key, Revision revision);  // revision 0 = absent
// Where no revision is known, as of entries of the reverse map; else revisions are compared.
Compare value_is(std::string key, std::string value);

struct Txn;

struct Op {
  enum class Kind { kPut, kDelete, kRange, kTxn };
  Kind kind = Kind::kRange;
  KeyRange range;           // kPut: range.key
  std::string value;        // kPut
  std::int64_t limit = 0;   // kRange: 0 = no limit
  bool keys_only = false;   // kRange
  bool count_only = false;  // kRange
  // kRange: the state at this revision (later operations of the transaction do not show); 0 = now.
  Revision revision;
  std::shared_ptr<Txn> txn;  // kTxn
};
Op put(std::string key, std::string value);
Op erase(std::string key);
Op erase_range(KeyRange range);
Op get(std::string key);
Op get_range(KeyRange range, std::int64_t limit = 0);
Op nested(Txn txn);

struct Txn {
  std::vector<Compare> compares;
  std::vector<Op> success;
  std::vector<Op> failure;
};

struct TxnResult;
struct OpResult {
  Op::Kind kind = Op::Kind::kRange;
  std::vector<KeyValue> kvs;       // kRange, ascending by key
  std::int64_t count = 0;          // kRange: keys in the range, not limited; kDelete: keys deleted
  bool more = false;               // kRange: the limit cut the answer
  std::shared_ptr<TxnResult> txn;  // kTxn
};
struct TxnResult {
  bool succeeded = false;
  Revision revision;  // the store's revision after the transaction
  std::vector<OpResult> results;
};

struct WatchEvent {
  bool deleted = false;
  KeyValue kv;  // deleted: key and mod_revision (of the deletion) only
};

// Receives the events of one watch, in revision order, on one thread of the store.
class WatchHandler {
 public:
  virtual ~WatchHandler() = default;
  // The watch delivers every change after `revision`.
  virtual void on_watch_created(Revision revision) = 0;
  // Every event of one revision arrives in one call (etcd's promise to an unfragmented watch); a
  // call may hold several revisions, ascending.
  virtual void on_watch_events(std::vector<WatchEvent> events, Revision revision) = 0;
  // The watch is over: kCompacted (start revision gone), or kUnavailable (connection lost; a new
  // watch from the next revision delivers everything). No call follows.
  virtual void on_watch_ended(Error error) = 0;
};

// A watch. Destroying the object cancels it; no handler call runs or follows once the destructor
// has returned. REQUIRES: not destroyed from inside a handler call.
class Watch {
 public:
  virtual ~Watch() = default;
};

using TxnCallback = std::function<void(Result<TxnResult>)>;

struct MemberStatus {
  std::string endpoint;
  bool reachable = false;
  bool leader = false;
  bool current = false;  // this store sends to this member
  bool no_space_alarm = false;
  std::int64_t db_size_bytes = 0;
  std::int64_t db_in_use_bytes = 0;
  Revision revision;
  std::string error;  // when not reachable
};

// One try of a transaction at one member.
struct TryOptions {
  std::int64_t timeout_ms = 300;
};

class Store {
 public:
  virtual ~Store() = default;

  // Sends the transaction once, to the member whose turn it is, and calls back exactly once.
  // Errors: kUnavailable (certainly not executed), kUnknownOutcome (no reply came within
  // timeout_ms, or the connection broke after the send: the transaction's own compares must make it
  // safe to send again), kNoSpace (etcd's quota alarm: deletes still work), kTooLarge (ops or bytes
  // beyond etcd's limit), kInvalidArgument, kShutdown, kCompacted and kOutOfRange (a range read at
  // a revision that is gone, or not yet there). The store itself may send a read-only transaction
  // again (only range ops, no put or delete in any branch).
  virtual void txn(Txn txn, TryOptions options, TxnCallback done) = 0;

  // Watches a range from start_revision on (0 = from now: no catch-up delay). Opening never blocks;
  // the handler outlives the returned watch.
  virtual std::unique_ptr<Watch> watch(KeyRange range, Revision start_revision,
                                       WatchHandler* handler) = 0;

  // Discards history before `revision`.
  virtual Status compact(Revision revision, TryOptions options) = 0;
  // One entry per configured endpoint. Blocks at most options.timeout_ms.
  virtual std::vector<MemberStatus> status(TryOptions options) = 0;
};

// Limits of one etcd transaction that callers must respect (etcd 3.5 defaults: --max-txn-ops 128,
// --max-request-bytes 1.5 MiB). A member started by symnas has --max-txn-ops 2048; one *operation
// list* of nested transactions stays below kTxnOpsMax.
inline constexpr int kTxnOpsMax = 1024;
inline constexpr std::int64_t kTxnBytesMax = 1'400'000;

// Whether a transaction that was answered with this error may have been executed: kUnknownOutcome,
// and kNoSpace. etcd 3.5 executes the transaction that takes it over its quota and then reports the
// error; no late copy of it can follow, so a read tells whether it was executed.
// (docs/architecture/kv_session.md section 2; sessions see to it themselves.)
bool maybe_executed(const Error& error);

// Reads with bounded retries for code that is not on a data path: blocks the caller until answered
// or deadline_ms is over. Errors: kUnavailable after the deadline, else as Store::txn. REQUIRES:
// not on a thread of the store.
Result<TxnResult> txn_blocking(Store& store, Txn txn, std::int64_t deadline_ms);
// Read-only: linearizable read of one range.
Result<OpResult> range_blocking(Store& store, KeyRange range, std::int64_t limit,
                                std::int64_t deadline_ms);

}  // namespace symnas::kv
