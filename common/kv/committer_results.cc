// The consequences of the answer to a batch: own writes and fresh values in the cache, one answer
// per operation.
#include <string>
#include <utility>

#include "common/kv/committer.h"
#include "common/kv/limits.h"

namespace symnas::kv {

// All at once: who sees a part of a batch (a directory's new change attribute, say) sees all of it.
void Committer::show(const Flight& flight, const Resolution& resolution, const TxnResult* answer) {
  std::vector<Cache::KeyFact> facts;
  for (const Op& op : flight.batch.merged_puts) add_written(op, resolution.revision, facts);
  for (std::size_t i = 0; i < flight.batch.operations.size(); ++i) {
    const Txn& nested = *flight.batch.nested[i];
    if (resolution.operations_succeeded[i]) {
      // The last one is the slot operation key.
      for (std::size_t op = 0; op + 1 < nested.success.size(); ++op) {
        add_written(nested.success[op], resolution.revision, facts);
      }
      continue;
    }
    context_.counters.conflicts.fetch_add(1, std::memory_order_relaxed);
    if (answer != nullptr) {
      add_found(flight, i, resolution.revision, *answer, facts);
      continue;
    }
    // The reply with the fresh values is lost; what the cache has is at least suspect.
    for (const Op& read : nested.failure)
      context_.cache.forget(read.range.key, resolution.revision);
  }
  context_.cache.offer(std::move(facts), resolution.revision, flight.cache_life);
}

void Committer::add_written(const Op& op, Revision revision,
                            std::vector<Cache::KeyFact>& facts) const {
  if (!op.range.end.empty() || !contains(context_.options.watched, op.range.key)) return;
  Cache::Fact fact{std::nullopt, revision};
  if (op.kind == Op::Kind::kPut) fact.value = op.value;
  facts.push_back({op.range.key, std::move(fact)});
}

void Committer::add_found(const Flight& flight, std::size_t operation, Revision revision,
                          const TxnResult& answer, std::vector<Cache::KeyFact>& facts) const {
  for (const auto& found : read_back(flight.batch, operation, answer)) {
    Cache::Fact fact{std::nullopt, revision};
    if (found.record != nullptr) fact = {found.record->value, found.record->mod_revision};
    facts.push_back({found.key, std::move(fact)});
  }
}

void Committer::unpin(const Flight& flight) {
  for (std::size_t i = 0; i < flight.batch.watched_puts.size(); ++i) {
    context_.cache.unpin(flight.batch.watched_puts[i], flight.pins[i]);
  }
}

Committer::Completions Committer::answers_of(Batch& batch, const Resolution& resolution) {
  Completions answers;
  for (std::size_t i = 0; i < batch.operations.size(); ++i) {
    Committed committed;
    committed.succeeded = resolution.operations_succeeded[i];
    committed.revision = resolution.revision;
    committed.stamp_ns = batch.stamp_ns;
    committed.shared_parent = batch.shared_parent[i];
    answers.push_back({std::move(batch.operations[i]), committed});
  }
  return answers;
}

void Committer::deliver(Completions answers, Revision revision) {
  bool ended_itself = false;
  for (auto& answer : answers) {
    const bool succeeded = answer.result && answer.result->succeeded;
    if (answer.operation->ends_session) {
      ended_itself = ended_itself || succeeded;
      if (!succeeded) ending_itself_.fetch_sub(1, std::memory_order_acq_rel);
    }
    if (succeeded && answer.operation->erases_watched_range) {
      // Only the watch tells which keys are gone: the answer waits for it.
      auto held = std::make_shared<Completion>(std::move(answer));
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
