#include "vnfsd/daemon/fencing/fence_agent_check.h"

#include <chrono>
#include <utility>

#include "common/base/log.h"
#include "vnfsd/daemon/fencing/limits.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {

// A broken fence agent is to be known before a head dies.
void FenceAgentCheck::look() {
  const std::int64_t now_ms = head_.clock.mono_ns() / 1'000'000;
  if (!check_.valid()) {
    const bool due = checked_ms_ == 0 || now_ms - checked_ms_ >= kFenceCheckMs;
    if (!means_.has_check() || !due) return;
    if (const auto seen = reader_.shown(); seen && *seen && is_any_being_cut_off(**seen)) return;
    checked_ms_ = now_ms;
    check_ = std::async(std::launch::async, [this] { return means_.check_agent(); });
    return;
  }
  if (check_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  const std::optional<Status> works = check_.get();
  if (!works) return;
  const std::string error = *works ? "" : works->error().message;
  {
    const MutexLock lock(mutex_);
    if (std::exchange(error_, error) == error) return;
  }
  if (*works) {
    log::info("the fence agent works again");
  } else {
    log::error("{}", error);
  }
}

std::string FenceAgentCheck::error() const {
  const MutexLock lock(mutex_);
  return error_;
}

}  // namespace symnas::vnfsd::daemon
