#include "vnfsd/daemon/fencing/fence_steps.h"

#include <thread>

#include <fmt/core.h>

#include "vnfsd/daemon/fencing/limits.h"

namespace symnas::vnfsd::daemon {

tl::unexpected<Error> stands_still(const std::string& head) {
  return fail(ErrorCode::kUnavailable,
              fmt::format("head {}: its fence stands still: its records change all the time, or "
                          "etcd does not say what became of it (repeat the command)",
                          head));
}

StepTries::StepTries() : end_(Clock::now() + std::chrono::milliseconds(kFenceStepMs)) {}

bool StepTries::next() {
  if (std::exchange(first_, false)) return true;
  if (Clock::now() >= end_) return false;
  std::this_thread::sleep_for(
      std::chrono::milliseconds(kFenceStepPauseMs / 2 + random_() % kFenceStepPauseMs));
  return true;
}

}  // namespace symnas::vnfsd::daemon
