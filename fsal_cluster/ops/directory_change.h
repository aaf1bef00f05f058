// Directory changes: the effect of a change of a directory's content on the directory's own
// attributes, and what a reply may say about that. Thread-safe: pure functions but for the cache
// look-up of shared times.
#pragma once

#include <cstdint>

#include "common/kv/session.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/ops/retry.h"
#include "fsal_cluster/schema/inode.h"

namespace symnas::fs {

// The blind put of content times, shared by all changes of one batch (Mutation::merged_puts).
kv::Op touch(FsId fs, Ino directory, std::int64_t now_ns);

// The time that an operation spends in a directory that it changes: from before its first read
// until its reply is made.
struct DirectoryTurn {
  DirectoryTurn(Context& context, Ino directory)
      : stay(context.membership.enter()), flight(context.flights.enter(directory)) {}
  Membership::Stay stay;
  DirectoryFlights::Flight flight;
};

// Whether `before` is known to be the state just before the change.
enum class Pre { kExact, kUnknown };
// kExact only for the first attempt of an operation that was alone in the directory
// (directory_flights.h), on a mount that was alone with the filesystem.
Pre pre_of(int attempt, const DirectoryTurn& turn);

// Attributes around a committed change. `now_ns` is what touch() put.
DirectoryChange change_of(Context& context, const Directory& before, std::int64_t now_ns,
                          const kv::Committed& committed, Pre pre);
// The answer of an operation that found nothing to do: the directory is as it was.
DirectoryChange no_change(const Context& context, const Directory& directory);

// Called after an operation failed. Its batch may have put content times for a directory that is
// gone; deletes them.
void sweep_times(Context& context, Ino directory);

// retry_conflicts for an operation that changes the content of `directory`: calls
// attempt(n, turn) and leaves no times behind when it fails. Errors: those of retry_conflicts.
template <class Attempt>
auto retry_in_directory(Context& context, Ino directory, Attempt attempt) {
  const DirectoryTurn turn(context, directory);
  auto result = retry_conflicts(context, [&](int n) { return attempt(n, turn); });
  if (!result) sweep_times(context, directory);
  return result;
}

}  // namespace symnas::fs
