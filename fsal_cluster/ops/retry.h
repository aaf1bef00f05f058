// The loop around every operation: plan on what was read, commit, and on a conflict read again and
// retry, with a bound and pauses. The only place of namespace operations that retries.
#pragma once

#include <string>
#include <utility>

#include "common/base/result.h"
#include "fsal_cluster/limits.h"
#include "fsal_cluster/ops/context.h"

namespace symnas::fs {

// Answers that say "it is not so": under kShared the cache must be current before one is given
// (INV-4).
bool is_negative(ErrorCode code);

// One pause before retry `attempt` (from 1): doubles from kConflictPauseMinUs to
// kConflictPauseMaxUs, with jitter of one half. `random` is any 64-bit number.
std::int64_t conflict_pause_us(int attempt, std::uint64_t random);

// Calls attempt(n), n = 0, 1, ..., until it answers anything but kConflict. Before a retry the
// cache is brought up to date (barrier), so the attempt reads what it conflicted with. Errors:
// kConflict after kConflictRetriesMax retries, those of the attempt and of Session::barrier.
template <class Attempt>
auto retry_conflicts(Context& context, Attempt attempt) -> decltype(attempt(0)) {
  bool confirmed = context.membership == Membership::kSole;
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

// Strict reads (GETATTR, LOOKUP, READDIR, ...): under kShared, one barrier before the cache is
// believed.
inline Status before_strict_read(Context& context) {
  return context.membership == Membership::kShared ? context.session.barrier() : Status();
}

// Commits; a failed compare becomes kConflict.
Result<kv::Committed> commit(Context& context, kv::Mutation mutation);

}  // namespace symnas::fs
