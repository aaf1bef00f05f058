#include "common/kv/committer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/check.h"
#include "common/kv/limits.h"

namespace symnas::kv {

namespace {

// Set while this thread sends: a store that answers at once would otherwise recurse (answer, next
// batch, answer, ...).
thread_local const void* sending_for = nullptr;

}  // namespace

Committer::Committer(SessionContext& context)
    : context_(context), frame_(context.options), slots_(context.options) {
  context_.on_close([this](const Error& error) { fail_all(error); });
}

void Committer::start(std::function<void(Status)> ready) {
  {
    const MutexLock lock(mutex_);
    if (!slots_.has_armed()) {
      ready_ = std::exchange(ready, nullptr);
      slots_to_start_ = kSessionSlots;
      for (int i = 0; i < kSessionSlots; ++i) arm_locked();
    }
  }
  if (ready) ready({});
  send_waiting();
}

void Committer::commit(Mutation mutation, CommitCallback done) {
  if (const auto& quota = context_.options.quota) {
    if (Status admitted = quota->admit(mutation.growth); !admitted) {
      done(tl::unexpected<Error>(std::move(admitted.error())));
      return;
    }
  }
  auto made = make_operation(std::move(mutation), context_.options);
  if (!made) {
    done(tl::unexpected<Error>(made.error()));
    return;
  }
  auto operation = std::move(*made);
  operation->done = std::move(done);
  if (operation->ends_session) ending_itself_.fetch_add(1, std::memory_order_acq_rel);
  context_.counters.operations.fetch_add(1, std::memory_order_relaxed);
  Completions answers;
  {
    const MutexLock lock(mutex_);
    if (closed_) {
      answers.push_back({std::move(operation), tl::unexpected<Error>(context_.close_error())});
    } else if (queue_.size() >= static_cast<std::size_t>(kQueuedOperationsMax)) {
      answers.push_back({std::move(operation),
                         fail(ErrorCode::kBusy, "session: " + std::to_string(queue_.size()) +
                                                    " operations are waiting already")});
    } else {
      queue_.push(std::move(operation));
      dispatch_locked(answers);
    }
  }
  send_waiting();
  deliver(std::move(answers), Revision(0));
}

// --- forming and sending batches

void Committer::dispatch_locked(Completions& answers) {
  if (closed_) return;
  while (!queue_.empty()) {
    if (!slots_.has_armed()) {
      if (arming_ == 0) arm_locked();
      return;
    }
    Operations operations = queue_.take_batch(claims_);
    if (operations.empty()) return;
    answer_stale_locked(operations, answers);
    if (!operations.empty()) launch_locked(std::move(operations));
  }
}

// A compare with a mod_revision that the key no longer has fails for ever: sending it to etcd would
// only cost a batch.
bool Committer::is_stale(const Operation& operation) const {
  return std::any_of(operation.mutation.compares.begin(), operation.mutation.compares.end(),
                     [&](const Compare& compare) {
                       return compare.target == Compare::Target::kModRevision &&
                              compare.relation == Compare::Relation::kEqual && compare.number > 0 &&
                              compare.range.end.empty() &&
                              context_.cache.changed_since(compare.range.key,
                                                           Revision(compare.number));
                     });
}

void Committer::answer_stale_locked(Operations& operations, Completions& answers) {
  for (auto& operation : operations) {
    if (!operation->waited || !is_stale(*operation)) continue;
    context_.counters.stale_operations.fetch_add(1, std::memory_order_relaxed);
    context_.counters.conflicts.fetch_add(1, std::memory_order_relaxed);
    answers.push_back({std::move(operation), Committed{}});
  }
  std::erase(operations, nullptr);
}

void Committer::launch_locked(Operations operations) {
  auto use = slots_.acquire(static_cast<std::uint32_t>(operations.size()));
  CHECK(use.has_value(), "dispatch has seen a free slot");
  for (const auto& operation : operations) claims_.add(operation->footprint);
  auto flight = std::make_shared<Flight>();
  flight->number = ++launched_;
  in_air_.emplace(flight->number, flight);
  flight->use = *use;
  flight->batch = build_batch(context_.options, frame_, *use, std::move(operations),
                              context_.time.next_stamp(context_.clock.wall_ns()));
  flight->txn = std::move(flight->batch.txn);
  flight->cache_life = context_.cache.life();
  for (const auto& key : flight->batch.watched_puts) {
    flight->pins.push_back(context_.cache.pin(key));
  }
  context_.counters.batches.fetch_add(1, std::memory_order_relaxed);
  send_locked(std::move(flight));
}

void Committer::arm_locked() {
  auto use = slots_.acquire_for_arming();
  if (!use) return;
  auto flight = std::make_shared<Flight>();
  flight->phase = Flight::Phase::kArm;
  flight->use = *use;
  flight->txn = arm_txn(frame_, *use);
  ++arming_;
  send_locked(std::move(flight));
}

void Committer::send_locked(FlightRef flight) {
  outbox_.push_back(flight);
  flights_.push_back(std::move(flight));
}

void Committer::send_waiting() {
  if (sending_for == this) return;
  const void* const before = std::exchange(sending_for, this);
  for (;;) {
    FlightRef flight;
    {
      const MutexLock lock(mutex_);
      if (outbox_.empty()) break;
      flight = std::move(outbox_.front());
      outbox_.pop_front();
    }
    ++flight->tries;
    Txn txn = flight->txn;
    const TryOptions options = SessionContext::try_options(flight->unanswered);
    context_.store.txn(std::move(txn), options,
                       [this, keep = context_.keep_alive(), flight](Result<TxnResult> answer) {
                         on_answer(flight, std::move(answer));
                       });
  }
  sending_for = before;
}

// --- answers of the store

// Removes the flight from those under way, so that nobody else answers its operations. False: the
// session was closed.
bool Committer::take_locked(const FlightRef& flight) {
  const auto found = std::find(flights_.begin(), flights_.end(), flight);
  if (found == flights_.end()) return false;
  flights_.erase(found);
  return true;
}

// Puts the flight back among those under way: from there close() answers its operations. After
// close() their answers go to `answers`. False: closed.
bool Committer::put_back_locked(const FlightRef& flight, Completions& answers) {
  if (!closed_) {
    flights_.push_back(flight);
    return true;
  }
  for (auto& operation : flight->batch.operations) {
    answers.push_back({std::move(operation), tl::unexpected<Error>(context_.close_error())});
  }
  return false;
}

void Committer::land_locked(const FlightRef& flight, Revision slot_revision) {
  if (flight->phase == Flight::Phase::kArm) --arming_;
  in_air_.erase(flight->number);
  slots_.release(flight->use, slot_revision);
}

void Committer::on_answer(const FlightRef& flight, Result<TxnResult> answer) {
  const SessionContext::Inside inside(context_);
  {
    const MutexLock lock(mutex_);
    if (!take_locked(flight)) return;
  }
  Resolution resolution;
  switch (flight->phase) {
    case Flight::Phase::kArm: resolution = judge_arm(frame_, flight->use, answer); break;
    case Flight::Phase::kBatch:
      resolution = judge_batch(frame_, flight->use, flight->maybe_executed, answer);
      break;
    case Flight::Phase::kAbort: resolution = judge_abort(frame_, flight->use, answer); break;
  }
  switch (resolution.kind) {
    case Resolution::Kind::kExecuted:
      if (flight->phase == Flight::Phase::kArm) {
        on_armed(flight, resolution);
      } else {
        const bool own_answer = resolution.answered && flight->phase == Flight::Phase::kBatch;
        on_executed(flight, resolution, own_answer ? &*answer : nullptr);
      }
      return;
    case Resolution::Kind::kResend: send_again(flight, answer); return;
    case Resolution::Kind::kRefused: on_refused(flight, resolution); return;
    case Resolution::Kind::kAbort: on_abort(flight, answer.error()); return;
    case Resolution::Kind::kAborted: on_aborted(flight); return;
    case Resolution::Kind::kEnded: on_ended(flight, resolution.error); return;
  }
}

void Committer::on_ended(const FlightRef& flight, const Error& disproof) {
  Completions answers;
  {
    const MutexLock lock(mutex_);
    put_back_locked(flight, answers);  // close() answers its operations with all others
  }
  deliver(std::move(answers), Revision(0));
  end(disproof);
}

void Committer::end(Error disproof) {
  context_.close(std::move(disproof),
                 ending_itself() ? SessionContext::Announce::kNo : SessionContext::Announce::kYes);
}

void Committer::send_again(const FlightRef& flight, const Result<TxnResult>& answer) {
  const bool unknown = !answer && answer.error().code != ErrorCode::kUnavailable;
  const bool first_unknown = unknown && !flight->maybe_executed;
  if (unknown) {
    ++flight->unanswered;
    flight->maybe_executed = true;
  }
  if (first_unknown && flight->phase == Flight::Phase::kBatch) {
    context_.counters.unknown_outcomes.fetch_add(1, std::memory_order_relaxed);
  }
  Completions answers;
  bool open = false;
  {
    const MutexLock lock(mutex_);
    open = put_back_locked(flight, answers);
    // Sent again at once: the next member may already know the outcome.
    if (open && first_unknown) outbox_.push_back(flight);
  }
  deliver(std::move(answers), Revision(0));
  if (!open) return;
  if (first_unknown) {
    send_waiting();
    return;
  }
  context_.note_retry(flight->phase == Flight::Phase::kArm ? "a slot" : "a batch", flight->tries,
                      answer ? "answers contradict each other" : answer.error().message);
  const std::uint64_t salt = flight->use.sequence + static_cast<std::uint64_t>(flight->use.index);
  context_.timers.add(context_.retry_at_ns(flight->tries, salt),
                      [this, keep = context_.keep_alive(), flight] {
                        {
                          const MutexLock lock(mutex_);
                          if (closed_) return;
                          outbox_.push_back(flight);
                        }
                        send_waiting();
                      });
}

void Committer::on_armed(const FlightRef& flight, const Resolution& resolution) {
  Completions answers;
  {
    const MutexLock lock(mutex_);
    land_locked(flight, resolution.revision);
    dispatch_locked(answers);
  }
  send_waiting();
  deliver(std::move(answers), Revision(0));
  slot_ready({});
}

void Committer::on_executed(const FlightRef& flight, const Resolution& resolution,
                            const TxnResult* answer) {
  Batch& batch = flight->batch;
  note_shown(resolution.revision);  // before any fact of it
  show(*flight, resolution, answer);
  unpin(*flight);
  Completions answers;
  Completions stale;
  {
    const MutexLock lock(mutex_);
    for (const auto& operation : batch.operations) claims_.remove(operation->footprint);
    answers = answers_of(batch, resolution);
    land_locked(flight, resolution.revision);
    dispatch_locked(stale);
  }
  send_waiting();
  tell_onlookers();
  deliver(std::move(answers), resolution.revision);
  deliver(std::move(stale), Revision(0));
}

// The transaction was not executed and never will be as it is; a different one may be.
void Committer::on_refused(const FlightRef& flight, const Resolution& resolution) {
  const bool arming = flight->phase == Flight::Phase::kArm;
  if (arming && resolution.error.code == ErrorCode::kInvalidArgument) {
    slot_ready(tl::unexpected<Error>(resolution.error));
    end(Error{ErrorCode::kEnded, resolution.error.message});
    return;
  }
  Completions answers;
  Operations failed;
  {
    const MutexLock lock(mutex_);
    land_locked(flight, arming ? Revision(0) : flight->use.expected);
    if (arming) {
      if (!closed_ && arming_ == 0 && !slots_.has_armed()) failed = queue_.take_batch(claims_);
    } else {
      unpin(*flight);
      for (const auto& operation : flight->batch.operations) {
        claims_.remove(operation->footprint);
      }
      Operations operations = take_back(flight->batch);
      if (operations.size() == 1 || closed_) {
        failed = std::move(operations);
      } else {
        // One of these operations is to blame: each is tried alone.
        for (auto& operation : operations) operation->alone = true;
        queue_.push_front(std::move(operations));
      }
    }
    const Error why = closed_ ? context_.close_error() : resolution.error;
    for (auto& operation : failed) {
      answers.push_back({std::move(operation), tl::unexpected<Error>(why)});
    }
    dispatch_locked(answers);
  }
  send_waiting();
  tell_onlookers();
  deliver(std::move(answers), Revision(0));
  if (arming) slot_ready({});
}

void Committer::on_abort(const FlightRef& flight, Error refusal) {
  if (!flight->maybe_executed) {
    context_.counters.unknown_outcomes.fetch_add(1, std::memory_order_relaxed);
  }
  flight->phase = Flight::Phase::kAbort;
  flight->refusal = std::move(refusal);
  flight->txn = abort_txn(frame_, flight->use);
  flight->tries = 0;
  flight->unanswered = 0;
  flight->maybe_executed = true;
  Completions answers;
  {
    const MutexLock lock(mutex_);
    if (put_back_locked(flight, answers)) outbox_.push_back(flight);
  }
  send_waiting();
  deliver(std::move(answers), Revision(0));
}

void Committer::on_aborted(const FlightRef& flight) {
  Completions answers;
  {
    const MutexLock lock(mutex_);
    unpin(*flight);
    for (auto& operation : flight->batch.operations) {
      claims_.remove(operation->footprint);
      answers.push_back({std::move(operation), tl::unexpected<Error>(flight->refusal)});
    }
    land_locked(flight, Revision(0));
    dispatch_locked(answers);
  }
  send_waiting();
  tell_onlookers();
  deliver(std::move(answers), Revision(0));
}

void Committer::slot_ready(Status status) {
  std::function<void(Status)> ready;
  {
    const MutexLock lock(mutex_);
    if (slots_to_start_ == 0) return;
    if (status && --slots_to_start_ > 0) return;
    slots_to_start_ = 0;
    ready = std::exchange(ready_, nullptr);
  }
  if (ready) ready(std::move(status));
}

// --- who looks at what is under way

void Committer::when_landed(const Footprint& looked, Revision revision,
                            std::function<void(Status)> action) {
  OnlookerRef onlooker;
  {
    MutexLock lock(mutex_);
    const bool closed = closed_;
    if (closed || !claims_.conflicts(looked)) {
      lock.unlock();
      return action(closed ? Status(tl::unexpected<Error>(context_.close_error())) : Status());
    }
    onlooker = std::make_shared<Onlooker>(Onlooker{flights_over(looked), std::move(action)});
    onlookers_.push_back(onlooker);
  }
  context_.applied_waiters.wait_for(
      revision, [this, keep = context_.keep_alive(), onlooker] { tell(onlooker); });
}

void Committer::note_shown(Revision revision) {
  const MutexLock lock(mutex_);
  newest_shown_ = std::max(newest_shown_, revision);
}

Revision Committer::newest_shown() {
  const MutexLock lock(mutex_);
  return newest_shown_;
}

std::vector<std::uint64_t> Committer::flights_over(const Footprint& looked) const {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, flight] : in_air_) {
    Claims claims;
    for (const auto& operation : flight->batch.operations) claims.add(operation->footprint);
    if (claims.conflicts(looked)) numbers.push_back(number);
  }
  return numbers;
}

void Committer::tell_onlookers() {
  std::vector<OnlookerRef> due;
  {
    const MutexLock lock(mutex_);
    const auto is_under_way = [this](std::uint64_t number) {
      mutex_.assert_held();
      return in_air_.contains(number);
    };
    const auto waits = [&is_under_way](const OnlookerRef& one) {
      return std::ranges::any_of(one->flights, is_under_way);
    };
    const auto rest = std::stable_partition(onlookers_.begin(), onlookers_.end(), waits);
    due.assign(rest, onlookers_.end());
    onlookers_.erase(rest, onlookers_.end());
  }
  for (const OnlookerRef& one : due) one->action({});
}

void Committer::tell(const OnlookerRef& onlooker) {
  {
    const MutexLock lock(mutex_);
    if (std::erase(onlookers_, onlooker) == 0) return;  // has been told
  }
  onlooker->action({});
}

void Committer::fail_all(const Error& error) {
  Completions answers;
  std::vector<OnlookerRef> onlookers;
  std::function<void(Status)> ready;
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    outbox_.clear();
    for (auto& flight : std::exchange(flights_, {})) {
      for (auto& operation : flight->batch.operations) {
        answers.push_back({std::move(operation), tl::unexpected<Error>(error)});
      }
    }
    for (auto& operation : queue_.take_all()) {
      answers.push_back({std::move(operation), tl::unexpected<Error>(error)});
    }
    slots_to_start_ = 0;
    in_air_.clear();
    onlookers.swap(onlookers_);
    ready = std::exchange(ready_, nullptr);
  }
  if (ready) ready(tl::unexpected<Error>(error));
  for (const OnlookerRef& one : onlookers) one->action(tl::unexpected<Error>(error));
  deliver(std::move(answers), Revision(0));
}

}  // namespace symnas::kv
