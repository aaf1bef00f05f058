#include "common/kv/operation_queue.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "common/kv/limits.h"

namespace symnas::kv {

namespace {

constexpr std::int64_t kBatchBytesMax = kTxnBytesMax - kBatchFrameBytes;
// The outer list: slot, stamp, merged puts, nested transactions.
constexpr std::size_t kBatchMergedPutsMax = kTxnOpsMax - kBatchOperationsMax - kBatchFrameOps;

// The room that is left in a batch while it is collected.
class Room {
 public:
  bool fits(const Operation& operation) const {
    if (count_ == 0) return true;  // make_operation() has checked that one fits
    if (closed_ || operation.alone) return false;
    return count_ < kBatchOperationsMax && bytes_ + operation.bytes <= kBatchBytesMax &&
           merged_puts_ + operation.mutation.merged_puts.size() <= kBatchMergedPutsMax;
  }
  void add(const Operation& operation) {
    ++count_;
    bytes_ += operation.bytes;
    merged_puts_ += operation.mutation.merged_puts.size();
    closed_ = closed_ || operation.alone;
  }
  bool full() const { return closed_ || count_ >= kBatchOperationsMax; }

 private:
  int count_ = 0;
  std::int64_t bytes_ = 0;
  std::size_t merged_puts_ = 0;
  bool closed_ = false;
};

}  // namespace

void OperationQueue::push_front(Operations operations) {
  waiting_.insert(waiting_.begin(), std::make_move_iterator(operations.begin()),
                  std::make_move_iterator(operations.end()));
}

Operations OperationQueue::take_batch(const Claims& in_flight) {
  Operations batch;
  Claims earlier;  // of those taken and those passed over
  Room room;
  const auto scan = std::min<std::size_t>(waiting_.size(), kQueueScanMax);
  std::size_t seen = 0;
  for (; seen < scan && !room.full(); ++seen) {
    auto& operation = waiting_[seen];
    const bool may_go = room.fits(*operation) && !in_flight.conflicts(operation->footprint) &&
                        !earlier.conflicts(operation->footprint);
    earlier.add(operation->footprint);
    if (!may_go) {
      operation->waited = true;
      continue;
    }
    room.add(*operation);
    batch.push_back(std::move(operation));
  }
  // Close the gaps: only the part that was looked at moves.
  const auto end_of_seen = waiting_.begin() + static_cast<std::ptrdiff_t>(seen);
  const auto kept = std::stable_partition(
      waiting_.begin(), end_of_seen, [](const auto& operation) { return operation == nullptr; });
  waiting_.erase(waiting_.begin(), kept);
  return batch;
}

Operations OperationQueue::take_all() {
  Operations all(std::make_move_iterator(waiting_.begin()),
                 std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  return all;
}

}  // namespace symnas::kv
