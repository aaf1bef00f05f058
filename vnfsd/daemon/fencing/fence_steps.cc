#include "vnfsd/daemon/fencing/fence_steps.h"

#include <thread>

#include <fmt/core.h>

#include "common/kv/keys.h"
#include "vnfsd/daemon/fencing/limits.h"

namespace symnas::vnfsd::daemon {

std::string fence_key(const std::string& head) { return kv::keys::kFences + head; }

std::vector<std::pair<std::string, Stored<records::OwnerRecord>>> owned_by(
    const ClusterView& view, const std::string& head) {
  std::vector<std::pair<std::string, Stored<records::OwnerRecord>>> owned;
  for (const auto& [vnfs, owner] : view.owners) {
    if (owner.record.head() == head) owned.emplace_back(vnfs, owner);
  }
  return owned;
}

tl::unexpected<Error> has_just_booted(const std::string& head) {
  return fail(
      ErrorCode::kConflict,
      fmt::format("head {}: has just booted (repeat the command if that boot is to be fenced)",
                  head));
}

tl::unexpected<Error> has_come_back(const std::string& head) {
  return fail(
      ErrorCode::kConflict,
      fmt::format("head {}: it has come back meanwhile, and ends its old mounts itself", head));
}

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
