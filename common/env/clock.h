// Time behind an interface, so that simulation and unit tests own it. Thread-safe.
#pragma once

#include <cstdint>

namespace symnas::env {

class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds of a clock that never goes back (CLOCK_MONOTONIC). Decides time-outs and the gate.
  virtual std::int64_t mono_ns() const = 0;
  // Nanoseconds since 1970-01-01 UTC. Only for times that are shown to people and clients.
  virtual std::int64_t wall_ns() const = 0;
};

// The kernel's clocks. Lives for ever.
const Clock& system_clock();

// A clock moved by hand, for unit tests. Thread-compatible.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t start_ns = 1'000'000'000) : now_ns_(start_ns) {}
  std::int64_t mono_ns() const override { return now_ns_; }
  std::int64_t wall_ns() const override { return now_ns_; }
  void advance_ns(std::int64_t delta_ns) { now_ns_ += delta_ns; }

 private:
  std::int64_t now_ns_;
};

}  // namespace symnas::env
