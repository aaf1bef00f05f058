// Functions that the steps of a fence share. Thread-safe: pure functions, but for StepTries.
#pragma once

#include <chrono>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::daemon {

std::string fence_key(const std::string& head);
// The VNFSs that the head owns, with their owner records.
std::vector<std::pair<std::string, Stored<records::OwnerRecord>>> owned_by(const ClusterView& view,
                                                                           const std::string& head);

// Errors of the code kConflict.
tl::unexpected<Error> has_just_booted(const std::string& head);
tl::unexpected<Error> has_come_back(const std::string& head);
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
