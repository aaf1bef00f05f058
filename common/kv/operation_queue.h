// OperationQueue: operations that wait for a batch, and the rule that chooses those of the next
// one.
//
// Thread class: thread-compatible. Pure: no clock, thread or store.
// Invariants: an operation never overtakes one it conflicts with, neither in the queue nor in
// flight (this gives order per key, and nothing starves: an operation waits only for operations
// that came before it); no two operations of a batch conflict.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "common/kv/footprint.h"
#include "common/kv/operation.h"

namespace symnas::kv {

using Operations = std::vector<std::unique_ptr<Operation>>;

class OperationQueue {
 public:
  void push(std::unique_ptr<Operation> operation) { waiting_.push_back(std::move(operation)); }
  // Puts operations that were taken but not executed back in front of all others, in the given
  // order.
  void push_front(Operations operations);

  // Takes the operations of the next batch, in order. Limits: kBatchOperationsMax, and the bytes
  // and list lengths of one transaction. None of them conflicts with `in_flight`, with an earlier
  // waiting operation or with another of the batch. Empty when all wait for something in flight.
  // Looks at kQueueScanMax operations at most; marks those it passes over as waiting.
  Operations take_batch(const Claims& in_flight);
  Operations take_all();

  std::size_t size() const { return waiting_.size(); }
  bool empty() const { return waiting_.empty(); }

 private:
  std::deque<std::unique_ptr<Operation>> waiting_;
};

}  // namespace symnas::kv
