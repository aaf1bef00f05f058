// Supervisor: what the pulse of the running instance says. While it cannot prove that it may
// answer, its VIPs are down, so that nobody waits for it where another head may have taken over;
// when it stands still it is ended. Needs neither the store nor an answer of the instance.
#include <chrono>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/launcher.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/retire.h"
#include "vnfsd/instance/supervisor.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr const char* kNoProof =
    "its VIPs are down: it cannot prove that it may still answer, because etcd does not (symnas "
    "status shows its members; it goes on by itself)";

}  // namespace

// Again until it is found.
void Supervisor::find_pulse() {
  if (pulse_.reader) return;
  auto found = fs::PulseReader::open(process_->id().pid);
  if (found) {
    pulse_.reader = std::move(*found);
    pulse_.error.clear();
  } else if (found.error().message != pulse_.error) {
    pulse_.error = found.error().message;
    log::warn("vnfs {}: whether it is healthy cannot be seen: {}", vnfs_, pulse_.error);
  }
}

PulseWatch::Action Supervisor::look_at_pulse() {
  find_pulse();
  if (!pulse_.reader)
    return pulse_.watch.ending() ? PulseWatch::Action::kEnd : PulseWatch::Action::kGoOn;
  const fs::Pulse pulse = pulse_.reader->read();
  requests_.show([&](InstanceSnapshot& shown) {
    shown.first_request_ns = pulse.first_request_ns;
    shown.last_reclaim_ns = pulse.last_reclaim_ns;
  });
  return pulse_.watch.look(clock_.mono_ns(), pulse);
}

void Supervisor::attend_pulse() {
  switch (look_at_pulse()) {
    case PulseWatch::Action::kGoOn:
      if (pulse_.watch.hidden() && vips_.up) hide_vips();
      return;
    case PulseWatch::Action::kHide: return hide_vips();
    case PulseWatch::Action::kShow: {
      // The last replies of one that retires need them, too.
      const bool retires = state_.retiring && !progress_.silenced;
      return progress_.serving || retires ? show_vips() : void();
    }
    case PulseWatch::Action::kEnd:
      return end_process(fmt::format("it has stood still for {} ms", kStillMs));
  }
}

Result<InstancePlan> Supervisor::read_plan() {
  auto plan = std::async(std::launch::async, [this] { return host_.plan_of(vnfs_, state_); });
  attend_pulse_until(plan);
  return plan.get();
}

// SIGKILL; await_end() follows. Its death may take long (I/O that hangs), and its VIPs are not to
// wait for that: its clients are woken when the VNFS is served again. Repeatable.
void Supervisor::end_process(const std::string& why) {
  if (!pulse_.watch.ending()) {
    log::warn("vnfs {}: instance pid {}, epoch {}: killed: {}", vnfs_, process_->id().pid,
              state_.epoch.value(), why);
  }
  pulse_.watch.end();
  progress_.serving = false;
  if (vips_.up) hide_vips();
  process_->kill();
}

// Waits for the end of a killed process.
void Supervisor::await_end() {
  if (vips_.up) hide_vips();
  if (const auto how = process_->wait(kHiddenLookMs)) return after_end(*how);
  show("stopping", fmt::format("pid {} survives SIGKILL (hung I/O?)", process_->id().pid));
}

// One that was adopted may have lost its proof, and another head may serve its VIPs: it is waited
// for as long as it has none.
bool Supervisor::may_show_vips() {
  if (pulse_.watch.ending()) return false;
  if (!pulse_.reader || pulse_.reader->read().open_until_ns > clock_.mono_ns()) return true;
  const PulseWatch::Action action = look_at_pulse();
  if (action == PulseWatch::Action::kEnd) {
    end_process("it stands still");
    return false;
  }
  if (action == PulseWatch::Action::kHide || (pulse_.watch.hidden() && vips_.up)) hide_vips();
  show("starting", kNoProof);
  requests_.sleep(kHiddenLookMs);
  return false;
}

// Clients that are connected now hear nothing of the instance's end, should it not come back.
void Supervisor::hide_vips() {
  requests_.show([](InstanceSnapshot& shown) { shown.silent = true; });
  if (unheard_.left.empty()) unheard_.left = connections_in(netns_.get());
  const Status removed = remove_vips(netns_.get());
  vips_.up = !removed;  // some may be gone: all are put back by show_vips()
  if (!removed) log::error("vnfs {}: {}", vnfs_, removed.error().message);
  if (progress_.serving) show("serving", kNoProof);
}

void Supervisor::show_vips() {
  vips_.up = true;
  vips_.plan.connections.clear();  // those that have lived on
  unheard_.left.clear();
  if (const Status up = bring_addresses_up(vips_.plan, netns_.get(), held_vips()); !up) {
    log::error("vnfs {}: {}", vnfs_, up.error().message);
    return pulse_.watch.undo();
  }
  requests_.show([](InstanceSnapshot& shown) { shown.silent = false; });
  log::info("vnfs {}: its VIPs are back: it can prove again that it may answer", vnfs_);
  if (progress_.serving) show_serving();
}

}  // namespace symnas::vnfsd::instance
