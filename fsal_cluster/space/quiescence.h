// Quiescence: decides when a freed block may be used again (INV-6). Thread class:
// thread-compatible. Pure. Every I/O begins (before it looks at a map) and ends. A free takes a
// stamp when its transaction has been applied. The freed blocks may be used once every I/O that had
// begun by then has ended: reusable(stamp). Cost: O(1) per I/O; memory is one counter per free that
// is waiting.
#pragma once

#include <cstdint>
#include <deque>

namespace symnas::fs {

class Quiescence {
 public:
  using Ticket = std::uint64_t;  // of one I/O
  using Stamp = std::uint64_t;   // of one free; ascending

  Ticket begin() {
    ++running_.back();
    ++in_flight_;
    return first_ + running_.size() - 1;
  }
  // REQUIRES: `ticket` came from begin() and has not ended.
  void end(Ticket ticket);
  // Returns a stamp to which no later I/O belongs: once it is reusable(), all I/O begun so far has
  // ended.
  Stamp retire();
  bool reusable(Stamp stamp) const { return stamp < first_; }
  std::uint64_t in_flight() const { return in_flight_; }  // for tests: I/Os that have not ended

 private:
  void advance();

  std::uint64_t first_ = 1;               // epoch of running_.front()
  std::deque<std::uint64_t> running_{0};  // I/Os in flight per epoch; the last one is current
  std::uint64_t in_flight_ = 0;
};

}  // namespace symnas::fs
