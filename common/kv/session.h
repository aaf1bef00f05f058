// Session: one mount's way to change and read metadata. It adds to every transaction what code
// above must not forget:
//  - INV-3: the mount's record is the same record and not ended (and any further guards given at
//    creation);
//  - exactly once: a slot of a bounded table per batch (as in NFSv4.1 sessions). An unknown outcome
//    is resolved by sending the same transaction to another member or by writing an abort into the
//    slot, never by looking for absence;
//  - group commit: independent operations travel as nested transactions of one etcd transaction;
//  - the stamp: one put per transaction that changes a watched key, so that its version is
//    contiguous in the watch;
//  - the cache: own successful results apply at once, the watch applies everything, the higher
//    mod_revision wins.
//
// Thread class: thread-safe. Callbacks run on a store thread and must not block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/env/clock.h"
#include "common/kv/follower.h"
#include "common/kv/quota.h"
#include "common/kv/store.h"

namespace symnas::kv {

// One operation's change: committed as a whole or not at all.
// The session lets operations share a batch only if no key or range that one of them writes is
// compared or written by another.
struct Mutation {
  std::vector<Compare> compares;
  std::vector<Op> writes;  // kPut and kDelete only (a delete may be a range)
  // Blind puts that several operations of one batch may share (directory times). The last one's
  // value is put once, at the outer level: whenever the batch's guards hold, even if no operation
  // that carries it succeeds. A record without its owner (`dirt` without `ino`) is ignored and
  // swept.
  std::vector<Op> merged_puts;
  // Whether the operation is admitted while etcd's quota runs out. The default is refused first.
  Growth growth = Growth::kGrows;
};

struct Committed {
  bool succeeded = false;  // false: a compare failed, nothing was written: read again and retry
  Revision revision;  // of the batch when succeeded; else a revision at which the compares failed
                      // (0 = unknown)
  std::int64_t stamp_ns = 0;  // the filesystem time (hybrid clock) that the batch carried
  bool shared_parent =
      false;  // another operation of the batch put the same merged key: no pre-attributes
};
using CommitCallback = std::function<void(Result<Committed>)>;

// What the cache knows of a key.
struct CachedValue {
  std::optional<std::string> value;  // nullopt: the key does not exist
  Revision mod_revision;             // of the value, or of the proof that the key does not exist
};

struct SessionOptions {
  std::string session_id;   // names the slot keys: slot_prefix + session_id + index
  std::string slot_prefix;  // outside the watched prefix
  KeyRange watched;         // cached keys live in it
  // Revision of the transaction with arm_slots() that made the mount; 0: the session arms its slots
  // itself.
  Revision slots_armed_at;
  std::string stamp_key;  // inside `watched`
  std::string mount_key;  // INV-3: compared by create_revision
  Revision mount_create_revision;
  std::string ended_key;        // INV-3: must be absent
  std::vector<Compare> guards;  // further compares of every transaction (VNFS owner record)
  std::int64_t cache_bytes_max = std::int64_t{1} << 30;
  std::shared_ptr<const QuotaGauge> quota;  // null: operations are not checked
  // Keys of which a follower keeps a complete image. They are few and small: all are read in one
  // transaction. The followers outlive the session.
  struct Followed {
    std::vector<KeyRange> ranges;  // inside `watched`
    Follower* follower = nullptr;
  };
  std::vector<Followed> followed;
};

// Operations that arm all slots of a session that has none yet. They go into the transaction that
// makes its mount, which saves the session a transaction of its own.
std::vector<Op> arm_slots(const std::string& slot_prefix, const std::string& session_id);

struct SessionCounters {
  std::uint64_t operations = 0;
  std::uint64_t batches = 0;
  std::uint64_t conflicts = 0;         // operations answered succeeded = false
  std::uint64_t stale_operations = 0;  // of these: refused without a question to etcd
  std::uint64_t unknown_outcomes = 0;
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_loads = 0;
  std::uint64_t resyncs = 0;
  std::uint64_t barriers = 0;
};

class Session {
 public:
  // Opens the watch from now, waits until it is created, and reads the stamp. Blocks at most
  // deadline_ms. Errors: kUnavailable, kEnded (the mount record is not the one given),
  // kInvalidArgument (options that contradict each other, or a session_id that has been used
  // before). `on_ended` is called once, from a store thread, when a disproof is found (mount ended
  // or replaced): the process must exit without answering.
  static Result<std::unique_ptr<Session>> open(Store& store, const env::Clock& clock,
                                               SessionOptions options,
                                               std::function<void(Error)> on_ended,
                                               std::int64_t deadline_ms);
  // Everything pending answers kShutdown; returns when no caller is inside and no callback will
  // follow. REQUIRES: not inside a callback.
  virtual ~Session() = default;

  // Commits one operation exactly once. The callback comes when the outcome is known, however long
  // that takes (an operation of unknown outcome is held as long as the process lives,
  // docs/design.md 5.2). Errors: kEnded, kNoSpace (of the quota, or of the part of it that is kept
  // back: nothing was written), kTooLarge, kInvalidArgument, kBusy (queue full), kShutdown.
  virtual void commit(Mutation mutation, CommitCallback done) = 0;
  // As commit(), but blocks the caller. REQUIRES: not on a store thread.
  Result<Committed> commit_blocking(Mutation mutation);
  // Whether an operation of this kind would be refused now because of etcd's quota: for a caller
  // that must know before it promises anything. Errors: kNoSpace.
  virtual Status admit(Growth growth) const = 0;

  // Reads keys through the cache; loads missing ones with one linearizable read (a "loading" entry
  // is inserted first, so that a watch event that overtakes the answer is not lost). A load waits
  // for own commits under way that write what it looks at. Retries while etcd is away. Result order
  // = keys order. REQUIRES: keys inside `watched`; not on a store thread.
  virtual Result<std::vector<CachedValue>> read(const std::vector<std::string>& keys) = 0;
  Result<CachedValue> read(const std::string& key);
  // Returns once the cache shows every change of these keys up to the newest own commit of which it
  // shows anything: a caller that has seen a directory's change attribute then finds all names that
  // the attribute stands for. Returns at once, without asking etcd, unless an own commit under way
  // changes one of the keys; then waits for the outcome of that commit, or for the watch. Errors:
  // kEnded, kShutdown. REQUIRES: not on a store thread.
  virtual Status await_own(const std::vector<std::string>& keys) = 0;
  // Cache only: nullopt when not cached. Never blocks; any thread.
  virtual std::optional<CachedValue> peek(const std::string& key) = 0;
  // Asynchronous read through the cache for threads that must not block.
  virtual void read_async(std::vector<std::string> keys,
                          std::function<void(Result<std::vector<CachedValue>>)> done) = 0;
  // Linearizable range read, not cached (READDIR pages, sweeps, reverse maps). Waits for own
  // commits under way, as a load does. Retries while etcd is away.
  virtual Result<OpResult> range(KeyRange range, std::int64_t limit) = 0;

  // INV-4: returns once the cache reflects every change acknowledged before the call. Joins only a
  // stamp read that has not been sent yet. A sole mount of a filesystem needs no barrier (no other
  // mount can exist) and does not call this.
  virtual Status barrier() = 0;
  // As barrier(), for threads that must not block; `done` is called on any thread, maybe at once.
  virtual void barrier_async(std::function<void(Status)> done) = 0;

  // The newest revision the watch has applied.
  virtual Revision applied() const = 0;
  // Filesystem time: max(local wall clock, newest stamp + 65,536 ns), strictly ascending per
  // session.
  virtual std::int64_t next_time_ns() = 0;
  // To be called with a filesystem time that was found in a record: every later one is above it.
  // While a broken watch is being replaced, records may show times that no stamp has shown.
  virtual void saw_time_ns(std::int64_t time_ns) = 0;
  // The newest stamp this session knows; 0: none. Every later change carries a time at least 65,536
  // ns above it.
  virtual std::int64_t stamp_time_ns() const = 0;
  virtual SessionCounters counters() const = 0;
};

}  // namespace symnas::kv
