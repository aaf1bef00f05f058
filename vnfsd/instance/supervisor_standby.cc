// Supervisor: an instance that waits for its claim: prepared, called or not needed.
#include <poll.h>

#include <memory>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/instance/crash_point.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/launcher.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/retire.h"
#include "vnfsd/instance/supervisor.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr std::int64_t kClaimPauseMs = 50;  // between tries to take it, when its clients wait

}  // namespace

void Supervisor::prepare() {
  if (pause_ms_ > 0) {
    requests_.sleep(std::exchange(pause_ms_, 0));
    return;
  }
  show("starting", snapshot().error);
  const Status prepared = prepare_once();
  if (!prepared) {
    if (process_) discard_standby();
    pause_ms_ = vips_.held.empty() ? pause_after(prepared.error()) : kVipRetryMs;
    if (requests_.wanted() == Wanted::kStarted) pause_ms_ = 0;  // it is done in another way now
    return show("waiting", prepared.error().message);
  }
  log::info("vnfs {}: prepared: pid {}, epoch {}", vnfs_, process_->id().pid, state_.epoch.value());
  crash_point("prepared", vnfs_);
  note(step::kPrepared);
  show("prepared", "");
  host_.prepared(vnfs_);
}

Status Supervisor::prepare_once() {
  SYMNAS_ASSIGN(prepared_, host_.prepare(vnfs_));
  arrival_ = {};
  SYMNAS_TRY(launch_instance(prepared_));
  crash_point("standby launched", vnfs_);
  SYMNAS_TRY(wait_standing_by(*process_, paths_.control, kStandbyTimeoutMs));
  look_for_holders(prepared_);
  if (vips_.held.empty()) return {};
  return fail(ErrorCode::kBusy, text_of(vips_.held));
}

// Needs no fence: a standby has nothing that could reach a LUN or a client.
void Supervisor::discard_standby() {
  process_->kill();
  if (!process_->wait(kKillTimeoutMs)) {
    show("stopping", fmt::format("pid {} survives SIGKILL", process_->id().pid));
    return;
  }
  log::info("vnfs {}: not needed any more: pid {}, epoch {}", vnfs_, state_.process.pid,
            state_.epoch.value());
  lose_process();
  state_.standby = false;
  arrival_ = {};
}

void Supervisor::attend_standby() {
  switch (requests_.wanted()) {
    case Wanted::kStopped: return discard_standby();
    case Wanted::kStarted: return call_standby();
    case Wanted::kPrepared: break;
  }
  pollfd entries[] = {{process_->pidfd(), POLLIN, 0}, {requests_.fd(), POLLIN, 0}};
  ::poll(entries, 2, -1);
  if (entries[1].revents != 0) requests_.sleep(0);
  if (entries[0].revents == 0) return;
  log::warn("vnfs {}: ended before it was needed: pid {} (its log is {})", vnfs_,
            process_->id().pid, paths_.log);
  discard_standby();
  pause_ms_ = policy_.ended(now_ms());
  show("waiting", "");
}

// From here on it may open LUNs: it is an instance like any other.
void Supervisor::call_standby() {
  show("starting", "");
  progress_.released = false;  // whatever comes of it
  const auto plan = host_.claim(vnfs_, state_.epoch);
  if (!plan) {
    show("starting", plan.error().message);
    requests_.sleep(kClaimPauseMs);
    return;
  }
  if (!may_call(prepared_, *plan)) return discard_standby();  // start() claims again
  crash_point("claimed", vnfs_);
  note(step::kClaimed);
  progress_.fenced = false;
  vips_.question = std::make_unique<VipQuestion>(plan->links, 0, kVipAskMs);  // it was asked before
  state_.standby = false;
  state_.owner_mod_revision = plan->owner_mod_revision;
  remember_luns(*plan);
  claimed_ = *plan;
  Status called = write_file_atomically(paths_.state_file, render_state(state_), 0600);
  if (called) called = write_instance_file(*plan);
  crash_point("recorded", vnfs_);
  if (called) called = serve(paths_.control);
  crash_point("called", vnfs_);
  if (!called) give_up(called.error());
}

}  // namespace symnas::vnfsd::instance
