// The loop around every operation: plan on what was read, commit, and on a conflict read again and
// retry, with a bound and pauses. The only place of namespace operations that retries.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/ops/request.h"
#include "fsal_cluster/types/limits.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// Answers such as "no such name": the cache must be current before one is given (INV-4).
bool is_negative(ErrorCode code);

// One pause before retry `attempt` (from 1): doubles from kConflictPauseMinUs to
// kConflictPauseMaxUs, with jitter of one half. `random` is any 64-bit number.
std::int64_t conflict_pause_us(int attempt, std::uint64_t random);

// Whether the cache shows every change acknowledged so far, for as long as the stay lasts: this
// mount is alone, and has a recent proof that it has not ended.
inline bool is_current(const Context& context, const Membership::Stay& stay) {
  return stay.sole() && (context.gate == nullptr || context.gate->is_open());
}

// What the cache is known to show when an operation begins.
enum class Cache { kCurrent, kMayBeOld };

// Calls attempt(n), n = 0, 1, ..., until its answer is not kConflict. Before each retry a barrier
// brings the cache up to date, so that the attempt reads what it conflicted with. Errors: kConflict
// after kConflictRetriesMax retries, those of the attempt and of Session::barrier. REQUIRES: a stay
// that lasts until the return.
template <class Attempt>
auto retry_conflicts(Context& context, Cache cache, Attempt attempt) -> decltype(attempt(0)) {
  bool confirmed = cache == Cache::kCurrent;
  bool conflicted = false;
  for (int n = 0; n <= kConflictRetriesMax; ++n) {
    if (conflicted) context.pause(n);
    if (n > 0) SYMNAS_TRY(context.session.barrier());
    auto result = attempt(n);
    if (result) return result;
    const ErrorCode code = result.error().code;
    conflicted = code == ErrorCode::kConflict;
    if (conflicted) continue;
    if (confirmed || !is_negative(code)) return result;
    confirmed = true;
  }
  return fail(ErrorCode::kConflict, "others kept changing the same objects; try again later");
}

// As the function above, with a stay of its own.
template <class Attempt>
auto retry_conflicts(Context& context, Attempt attempt) -> decltype(attempt(0)) {
  const Membership::Stay stay = context.membership.enter();
  const Cache cache = is_current(context, stay) ? Cache::kCurrent : Cache::kMayBeOld;
  return retry_conflicts(context, cache, std::move(attempt));
}

// Strict reads (GETATTR, LOOKUP, READDIR, ...): one barrier per request before the cache is
// believed, unless it is current. The stay lasts as long as the answer is being made. Errors:
// Session::barrier.
inline Result<Membership::Stay> before_strict_read(Context& context) {
  Membership::Stay stay = context.membership.enter();
  if (is_current(context, stay) || has_passed_barrier(&context.session)) return stay;
  SYMNAS_TRY(context.session.barrier());
  note_barrier(&context.session);
  return stay;
}

// Commits; a failed compare becomes kConflict.
Result<kv::Committed> commit(Context& context, kv::Mutation mutation);

// The put that records that the call of this thread was carried out; for the transaction that
// carries it out. `object`: what the call made or changed, if its answer names that. nullopt: no
// client will ask again.
std::optional<kv::Op> record_of_call(Context& context, const Handle& object = {});
// commit() of the mutation that the call of this thread asks for, with the record of the call.
// REQUIRES: the call has no other transaction.
Result<kv::Committed> commit_call(Context& context, kv::Mutation mutation,
                                  const Handle& object = {});

}  // namespace symnas::fs
