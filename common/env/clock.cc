#include "common/env/clock.h"

#include <ctime>

namespace symnas::env {
namespace {

std::int64_t read_ns(clockid_t id) {
  timespec ts{};
  ::clock_gettime(id, &ts);
  return static_cast<std::int64_t>(ts.tv_sec) * 1'000'000'000 + ts.tv_nsec;
}

class SystemClock final : public Clock {
 public:
  std::int64_t mono_ns() const override { return read_ns(CLOCK_MONOTONIC); }
  std::int64_t wall_ns() const override { return read_ns(CLOCK_REALTIME); }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace symnas::env
