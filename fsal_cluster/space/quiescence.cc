#include "fsal_cluster/space/quiescence.h"

#include "common/base/check.h"

namespace symnas::fs {

void Quiescence::advance() {
  while (running_.size() > 1 && running_.front() == 0) {
    running_.pop_front();
    ++first_;
  }
}

void Quiescence::end(Ticket ticket) {
  CHECK(ticket >= first_ && ticket < first_ + running_.size(), "I/O ended twice");
  std::uint64_t& count = running_[ticket - first_];
  CHECK(count > 0, "I/O ended twice");
  --count;
  --in_flight_;
  advance();
}

Quiescence::Stamp Quiescence::retire() {
  const Stamp stamp = first_ + running_.size() - 1;
  running_.push_back(0);
  advance();
  return stamp;
}

}  // namespace symnas::fs
