// Batch: up to kBatchOperationsMax operations in one etcd transaction, with the rules by which its
// answer is read.
//
//   compares  mount's create_revision, end record absent, guards, the slot's mod_revision
//   success   put slot {sequence, operations}; put stamp (when a watched key may change);
//             merged puts; one nested transaction per operation:
//               compares  the operation's
//               success   the operation's writes; put slot operation key
//               failure   read the compared single watched keys: fresh values for the retry
//   failure   read what the compares looked at, and the slot with its operation keys
//
// The stamp comes first among the watched puts: whatever part of a revision a broken watch
// delivers, the missing stamp is noticed.
//
// Thread class: immutable once built.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/kv/operation_queue.h"
#include "common/kv/slot.h"
#include "common/kv/store.h"

namespace symnas::kv {

struct Batch {
  SlotUse use;
  Operations operations;
  Txn txn;
  std::int64_t stamp_ns = 0;
  std::vector<Op> merged_puts;                     // as sent: one per key
  std::vector<bool> shared_parent;                 // per operation
  std::vector<std::shared_ptr<const Txn>> nested;  // per operation

  // Watched keys that the batch may put: they are pinned in the cache until the batch is answered.
  std::vector<std::string> watched_puts;
};

// REQUIRES: `operations` came from OperationQueue::take_batch(); use.operations is their number.
// Cost: moves the operations' compares and writes into the transaction, copies nothing but keys.
Batch build_batch(const SessionOptions& options, const Frame& frame, SlotUse use,
                  Operations operations, std::int64_t stamp_ns);

// The operations as they were before build_batch(), for a batch that was refused and not executed.
Operations take_back(Batch& batch);

// The records that nested transaction `operation` read back in its failure branch: one element per
// compared watched single key, in the order of its compares; no kvs = the key does not exist.
// REQUIRES: `answer` is the answer of the batch's own transaction, and it succeeded.
struct ReadBack {
  std::string_view key;
  const KeyValue* record;  // nullptr: absent
};
std::vector<ReadBack> read_back(const Batch& batch, std::size_t operation, const TxnResult& answer);

}  // namespace symnas::kv
