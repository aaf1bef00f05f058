// Supervisor: what the pulse of the running instance says. While it cannot prove that it may
// answer, its VIPs are down, so that nobody waits for it where another head may have taken over;
// when it stands still it is ended. Needs neither the store nor an answer of the instance.
#include <utility>

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

void Supervisor::find_pulse() {
  if (pulse_) return;
  auto found = fs::PulseReader::open(process_->id().pid);
  if (found) {
    pulse_ = std::move(*found);
  } else {
    log::warn("vnfs {}: whether it is healthy cannot be seen: {}", vnfs_, found.error().message);
  }
}

PulseWatch::Verdict Supervisor::look_at_pulse() {
  if (!pulse_) return PulseWatch::Verdict::kGoOn;
  return pulse_watch_.look(clock_.mono_ns(), pulse_->read());
}

// REQUIRES: it serves.
void Supervisor::attend_pulse() {
  switch (look_at_pulse()) {
    case PulseWatch::Verdict::kGoOn: return hide_again_ ? hide_vips() : void();
    case PulseWatch::Verdict::kHide: return hide_vips();
    case PulseWatch::Verdict::kShow: return show_vips();
    case PulseWatch::Verdict::kEnd: break;
  }
  log::warn("vnfs {}: instance pid {}, epoch {}: killed: it has stood still for {} ms", vnfs_,
            process_->id().pid, state_.epoch.value(), kStillMs);
  process_->kill();  // what comes of it shows when it has ended
  sleep(kPulseLookMs);
}

// One that was adopted may have lost its proof, and another head may serve its VIPs: it is waited
// for as long as it has none.
bool Supervisor::may_show_vips() {
  if (!pulse_ || pulse_->read().open_until_ns > clock_.mono_ns()) return true;
  const PulseWatch::Verdict verdict = look_at_pulse();
  if (verdict == PulseWatch::Verdict::kHide) hide_vips();
  if (verdict == PulseWatch::Verdict::kEnd) process_->kill();
  show("starting", kNoProof);
  sleep(kHiddenLookMs);
  return false;
}

void Supervisor::hide_vips() {
  const Status removed = remove_vips(netns_.get());
  hide_again_ = !removed;  // some may be gone: all are put back by show_vips()
  if (!removed) log::error("vnfs {}: {}", vnfs_, removed.error().message);
  if (serving_) show("serving", kNoProof);
}

void Supervisor::show_vips() {
  hide_again_ = false;
  vips_.connections.clear();  // those that have lived on
  if (const Status up = bring_addresses_up(vips_, netns_.get(), held_vips()); !up) {
    log::error("vnfs {}: {}", vnfs_, up.error().message);
    return pulse_watch_.undo();
  }
  log::info("vnfs {}: its VIPs are back: it can prove again that it may answer", vnfs_);
  show_serving();
}

}  // namespace symnas::vnfsd::instance
