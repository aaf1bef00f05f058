// What follows from the answer to a batch: own writes and fresh values in the cache, one answer per
// operation.
#include <string>
#include <utility>

#include "common/kv/committer.h"
#include "common/kv/limits.h"

namespace symnas::kv {

void Committer::apply_merged(const Flight& flight, Revision revision) {
  for (const auto& op : flight.batch.merged_puts) {
    if (!contains(context_.options.watched, op.range.key)) continue;
    context_.cache.offer(op.range.key, {op.value, revision}, revision, flight.cache_life);
  }
}

void Committer::apply_success(const Flight& flight, std::size_t operation, Revision revision) {
  const auto& writes = flight.batch.nested[operation]->success;
  for (std::size_t i = 0; i + 1 < writes.size(); ++i) {  // the last one is the slot operation key
    const Op& op = writes[i];
    if (!op.range.end.empty() || !contains(context_.options.watched, op.range.key)) continue;
    Cache::Fact fact{std::nullopt, revision};
    if (op.kind == Op::Kind::kPut) fact.value = op.value;
    context_.cache.offer(op.range.key, std::move(fact), revision, flight.cache_life);
  }
}

void Committer::apply_failure(const Flight& flight, std::size_t operation, Revision revision,
                              const TxnResult* answer) {
  context_.counters.conflicts.fetch_add(1, std::memory_order_relaxed);
  if (answer == nullptr) {
    // The reply with the fresh values is lost; what the cache has may be out of date.
    for (const auto& read : flight.batch.nested[operation]->failure) {
      context_.cache.forget(read.range.key, revision);
    }
    return;
  }
  for (const auto& found : read_back(flight.batch, operation, *answer)) {
    Cache::Fact fact{std::nullopt, revision};
    if (found.record != nullptr) fact = {found.record->value, found.record->mod_revision};
    context_.cache.offer(found.key, std::move(fact), revision, flight.cache_life);
  }
}

Committer::Answers Committer::answers_of(Batch& batch, const Verdict& verdict) {
  Answers answers;
  for (std::size_t i = 0; i < batch.operations.size(); ++i) {
    Committed committed;
    committed.succeeded = verdict.operations_succeeded[i];
    committed.revision = verdict.revision;
    committed.stamp_ns = batch.stamp_ns;
    committed.shared_parent = batch.shared_parent[i];
    answers.push_back({std::move(batch.operations[i]), committed});
  }
  return answers;
}

void Committer::deliver(Answers answers, Revision revision) {
  bool ended_itself = false;
  for (auto& answer : answers) {
    const bool succeeded = answer.result && answer.result->succeeded;
    if (answer.operation->ends_session) {
      ended_itself = ended_itself || succeeded;
      if (!succeeded) ending_itself_.fetch_sub(1, std::memory_order_acq_rel);
    }
    if (succeeded && answer.operation->erases_watched_range) {
      // Only the watch tells which keys are gone: the answer waits for it.
      auto held = std::make_shared<Answer>(std::move(answer));
      context_.when_applied(revision, kRangeDeleteWatchWaitMs,
                            [held] { held->operation->done(std::move(held->result)); });
      continue;
    }
    answer.operation->done(std::move(answer.result));
  }
  if (ended_itself) {
    context_.close(Error{ErrorCode::kEnded, "session: its mount has been closed"},
                   SessionContext::Announce::kNo);
  }
}

}  // namespace symnas::kv
