// Turn: one thread of a client works at a time (an operation, or a reclaim). Held across calls.
//
// Thread class: for simulated threads.
#pragma once

#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

class Turn {
 public:
  // `busy`: whether somebody has the turn. REQUIRES: `busy` outlives the Turn.
  explicit Turn(bool& busy) : busy_(busy) {
    wait_until(&busy_, "the client's turn", [this] { return !busy_; });
    busy_ = true;
  }
  ~Turn() {
    busy_ = false;
    wake(&busy_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  bool& busy_;
};

// A time of 0 to `ms` milliseconds, uniform, in nanoseconds.
inline std::int64_t up_to_ms(std::uint64_t ms) {
  return static_cast<std::int64_t>(below(ms * 1'000'000 + 1));
}

}  // namespace symnas::sim
