// Committer: takes operations, sends them in batches, finds out what became of each and answers it.
//
// Thread class: thread-safe. One mutex (lock order: committer, then a shard of the cache); the
// store, the cache's owners and callbacks are called without it. Invariants: every operation is
// answered exactly once; before a successful operation is answered, the cache shows its writes,
// those of one batch together; a transaction is built once and sent unchanged until its outcome is
// known.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "common/base/thread_annotations.h"
#include "common/kv/batch.h"
#include "common/kv/footprint.h"
#include "common/kv/operation_queue.h"
#include "common/kv/session_context.h"
#include "common/kv/slot.h"

namespace symnas::kv {

class Committer {
 public:
  explicit Committer(SessionContext& context);

  // Arms the slots. `ready` is called once, when all slots are armed or etcd's quota forbids it.
  // Errors: kInvalidArgument (the session's name has been used before). A disproof closes the
  // session.
  void start(std::function<void(Status)> ready);
  // As Session::commit.
  void commit(Mutation mutation, CommitCallback done);
  // Runs `action` when each batch under way now that writes a key in `looked` has been answered, or
  // the watch has applied `revision`: then the cache shows of these batches everything that the
  // store held at `revision`. Runs it at once when there is no such batch. Errors: the error that
  // closed the session.
  void when_landed(const Footprint& looked, Revision revision, std::function<void(Status)> action);
  // The newest revision of anything that was shown: of own batches in the cache, and of loads.
  Revision newest_shown();
  void note_shown(Revision revision);
  // True while an operation is under way by which this mount ends itself: the mount's end is no
  // disproof then.
  bool ending_itself() const { return ending_itself_.load(std::memory_order_acquire) > 0; }
  // Ends the session on a disproof; announces it to nobody when the session has ended itself.
  void end(Error disproof);

 private:
  // One use of a slot, from the first send to the known outcome.
  struct Flight {
    enum class Phase { kArm, kBatch, kAbort };
    Phase phase = Phase::kBatch;
    SlotUse use;
    Batch batch;         // kBatch, kAbort
    Txn txn;             // the transaction that is sent now
    int tries = 0;       // sends of `txn`
    int unanswered = 0;  // of these, without a known outcome
    bool maybe_executed = false;
    Error refusal;                    // kAbort: error of the operations of an unexecuted batch
    std::vector<std::uint64_t> pins;  // of batch.watched_puts
    std::uint64_t cache_life = 0;     // before the first send
    std::uint64_t number = 0;         // of the batch, ascending
  };
  using FlightRef = std::shared_ptr<Flight>;
  struct Completion {
    std::unique_ptr<Operation> operation;
    Result<Committed> result;
  };
  using Completions = std::vector<Completion>;
  struct Onlooker {
    std::vector<std::uint64_t> flights;  // that the onlooker waits for
    std::function<void(Status)> action;
  };
  using OnlookerRef = std::shared_ptr<Onlooker>;

  void dispatch_locked(Completions& answers) REQUIRES(mutex_);
  bool is_stale(const Operation& operation) const;
  void answer_stale_locked(Operations& operations, Completions& answers) REQUIRES(mutex_);
  void launch_locked(Operations operations) REQUIRES(mutex_);
  void arm_locked() REQUIRES(mutex_);
  void send_locked(FlightRef flight) REQUIRES(mutex_);
  bool take_locked(const FlightRef& flight) REQUIRES(mutex_);
  bool put_back_locked(const FlightRef& flight, Completions& answers) REQUIRES(mutex_);
  void land_locked(const FlightRef& flight, Revision slot_revision) REQUIRES(mutex_);

  void send_waiting();
  void send_again(const FlightRef& flight, const Result<TxnResult>& answer);
  void on_answer(const FlightRef& flight, Result<TxnResult> answer);
  void on_armed(const FlightRef& flight, const Resolution& resolution);
  void on_executed(const FlightRef& flight, const Resolution& resolution, const TxnResult* answer);
  void on_refused(const FlightRef& flight, const Resolution& resolution);
  void on_abort(const FlightRef& flight, Error refusal);
  void on_aborted(const FlightRef& flight);
  void on_ended(const FlightRef& flight, const Error& disproof);

  void show(const Flight& flight, const Resolution& resolution, const TxnResult* answer);
  void add_written(const Op& op, Revision revision, std::vector<Cache::KeyFact>& facts) const;
  void add_found(const Flight& flight, std::size_t operation, Revision revision,
                 const TxnResult& answer, std::vector<Cache::KeyFact>& facts) const;
  void unpin(const Flight& flight);
  Completions answers_of(Batch& batch, const Resolution& resolution);
  void deliver(Completions answers, Revision revision);
  void fail_all(const Error& error);
  void slot_ready(Status status);
  std::vector<std::uint64_t> flights_over(const Footprint& looked) const REQUIRES(mutex_);
  void tell_onlookers();
  void tell(const OnlookerRef& onlooker);

  SessionContext& context_;
  const Frame frame_;
  std::atomic<int> ending_itself_{0};

  Mutex mutex_;
  bool closed_ GUARDED_BY(mutex_) = false;
  OperationQueue queue_ GUARDED_BY(mutex_);
  Claims claims_ GUARDED_BY(mutex_);  // of the operations in flight
  SlotTable slots_ GUARDED_BY(mutex_);
  // Under way, except a flight whose answer is being processed.
  std::vector<FlightRef> flights_ GUARDED_BY(mutex_);
  // To be sent as soon as no lock is held.
  std::deque<FlightRef> outbox_ GUARDED_BY(mutex_);
  // Batches that have claims.
  std::map<std::uint64_t, FlightRef> in_air_ GUARDED_BY(mutex_);
  std::uint64_t launched_ GUARDED_BY(mutex_) = 0;
  Revision newest_shown_ GUARDED_BY(mutex_);
  std::vector<OnlookerRef> onlookers_ GUARDED_BY(mutex_);
  int arming_ GUARDED_BY(mutex_) = 0;
  int slots_to_start_ GUARDED_BY(mutex_) = 0;
  std::function<void(Status)> ready_ GUARDED_BY(mutex_);
};

}  // namespace symnas::kv
