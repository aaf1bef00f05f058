// JumpingClock: the system's clock plus the jumps that a test makes. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/env/clock.h"

namespace symnas::test {

class JumpingClock final : public env::Clock {
 public:
  std::int64_t mono_ns() const override { return env::system_clock().mono_ns() + ahead_ns_; }
  std::int64_t wall_ns() const override { return env::system_clock().wall_ns() + ahead_ns_; }
  void jump_ns(std::int64_t delta_ns) { ahead_ns_ += delta_ns; }

 private:
  std::atomic<std::int64_t> ahead_ns_{0};
};

}  // namespace symnas::test
