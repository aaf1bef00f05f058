// StepTries: the tries of one step of a fence.
#pragma once

#include <chrono>
#include <random>
#include <string>

#include "common/base/result.h"

namespace symnas::vnfsd::daemon {

// Errors of the code kUnavailable.
tl::unexpected<Error> stands_still(const std::string& head);

// The tries of one step; each try reads the records anew. Thread-compatible.
class StepTries {
 public:
  StepTries();
  // Waits before every try but the first. False: there is no time left.
  bool next();

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end_;
  std::minstd_rand random_{std::random_device{}()};
  bool first_ = true;
};

}  // namespace symnas::vnfsd::daemon
