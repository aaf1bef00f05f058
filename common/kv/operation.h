// Operation: one mutation on its way through a session, from commit() to its callback.
//
// Thread class: confined to whoever owns it (queue, then batch).
#pragma once

#include <cstdint>
#include <memory>

#include "common/base/result.h"
#include "common/kv/footprint.h"
#include "common/kv/session.h"

namespace symnas::kv {

struct Operation {
  Mutation mutation;  // moved into the batch when that is built; `footprint` stays
  CommitCallback done;
  Footprint footprint;
  std::int64_t bytes = 0;        // of keys and values, with framing
  bool touches_watched = false;  // may change a watched key: the batch puts the stamp
  bool erases_watched_range = false;
  bool ends_session = false;  // writes the session's own mount or end record: a clean close
  bool waited = false;        // was not sent at once: its compares may be out of date
  bool alone = false;         // the store refused a batch with it: it is sent in a batch of its own
};

// Checks a mutation and computes what a session must know of it.
// Errors: kInvalidArgument (a write that is no put or delete, an empty key, two puts of one key, a
// put inside a deleted range, a write of the stamp or of a slot), kTooLarge (beyond what one
// transaction may carry).
Result<std::unique_ptr<Operation>> make_operation(Mutation mutation, const SessionOptions& options);

}  // namespace symnas::kv
