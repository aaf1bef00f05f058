// SimHead: its vnfsd has the peer fenced: the steps of daemon::Fencing. Each may be the last one of
// this vnfsd: the next one goes on from the record.
#include <algorithm>
#include <string>
#include <utility>

#include "fsal_cluster/state/mount_end.h"
#include "tests/sim/service/head.h"
#include "tests/sim/service/records.h"
#include "vnfsd/plans/fences.h"

namespace symnas::sim {

namespace {

namespace records = vnfsd::records;

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kDeadlineMs = 2'000;
constexpr std::int64_t kFollowNs = 50 * kNsPerMs;
// The time of a thread between its check and its answer.
constexpr std::int64_t kThreadNs = 100 * kNsPerMs;

}  // namespace

// nullopt: etcd does not tell.
std::optional<fs::LifeSigns> SimHead::signs_of(const vnfsd::ClusterView& view,
                                               const std::string& head) {
  const auto owner = view.owners.find(kService);
  if (owner == view.owners.end() || owner->second.record.head() != head) return fs::LifeSigns{};
  auto signs = fs::look_at_life_signs(*store_, *daemon_,
                                      {{VnfsId{kServiceId}, Epoch{owner->second.record.epoch()}}});
  return signs ? std::optional<fs::LifeSigns>(std::move(*signs)) : std::nullopt;
}

// As daemon::Fencing: the peer lives on without its LUNs, and may answer from memory.
void SimHead::wait_for_last_answers(const std::optional<fs::LifeSigns>& before) {
  for (;; sleep_ns(kFollowNs)) {
    const auto now = view();
    if (!now) continue;
    const auto after = signs_of(*now, service_.other(*this)->name());
    if (!after) continue;
    const auto silent_ns = fs::silent_from_ns(before ? &*before : nullptr, *after);
    if (!silent_ns) fail("a mount does not say how long it answers from memory");
    const std::int64_t pause_ns = daemon_->world_ns_of(*silent_ns) + kThreadNs - sim::now_ns();
    if (pause_ns > 0) sleep_ns(pause_ns);
    return;
  }
}

bool SimHead::commit(const vnfsd::FencePlan& plan) {
  const auto done = kv::txn_blocking(*store_, kv::Txn(*plan.txn), kDeadlineMs);
  return done && done->succeeded;
}

void SimHead::fence_peer() {
  const auto now = view();
  const SimHead& peer = *service_.other(*this);
  if (!now || !now->heads.contains(peer.name())) return;
  const vnfsd::Victim victim{peer.name(), now->heads.at(peer.name()).record.incarnation()};
  if (victim.incarnation != peer.incarnation()) return;  // it is booting
  records::FenceRecord wanted;
  wanted.set_head(victim.head);
  wanted.set_incarnation(victim.incarnation);
  wanted.set_by(name_);
  wanted.set_state(records::FENCE_RUNNING);
  wanted.set_began_ns(daemon_->wall_ns());
  const auto begin = vnfsd::plan_fence_begin(*now, boot(), wanted, nullptr);
  if (!begin || begin->record.state() == records::FENCE_DONE) return;
  if (begin->txn && !commit(*begin)) return;
  crash_point("a fence has begun");
  std::optional<fs::LifeSigns> before;  // nullopt: another vnfsd has begun the fence
  if (begin->record.state() == records::FENCE_RUNNING) {
    if (below(4) != 0) before = signs_of(*now, victim.head);
    if (!prove(victim, cut_off_peer())) return;
  }
  end_fence(victim, before);
}

// Returns what was cut.
std::string SimHead::cut_off_peer() {
  SimHead& peer = *service_.other(*this);
  const bool power = below(2) == 0;
  trace("%s: cuts %s off by its %s", name_.c_str(), peer.name().c_str(), power ? "power" : "LUNs");
  if (power) {
    peer.power_off();
  } else {
    peer.refuse_luns();
  }
  peer.drain();
  // It comes back when its last answers are over, or before.
  peer.reboot_later(within_ms(power ? 8'000 : 25'000));
  crash_point("it is cut off");
  return power ? "power" : "luns";
}

bool SimHead::prove(const vnfsd::Victim& victim, const std::string& cuts) {
  for (;; sleep_ns(kFollowNs)) {
    const auto now = view();
    if (!now) continue;
    const auto proof =
        vnfsd::plan_fence_proof(*now, boot(), victim, cuts, "cut", daemon_->wall_ns());
    if (!proof) return false;
    if (proof->txn && !commit(*proof)) continue;
    crash_point("it is proved");
    return true;
  }
}

void SimHead::end_fence(const vnfsd::Victim& victim, const std::optional<fs::LifeSigns>& before) {
  for (bool waited = false;; sleep_ns(kFollowNs)) {
    const auto now = view();
    if (!now) continue;
    const auto end = vnfsd::plan_fence_end(*now, victim);
    if (!end || !end->plan.txn) return;
    if (!std::exchange(waited, true) && end->plan.record.cuts() != "power") {
      wait_for_last_answers(before);
      continue;  // what it owns is read after the pause
    }
    const bool ended = std::ranges::all_of(end->owned, [&](const auto& owned) {
      const Epoch epoch{owned.second.record.epoch()};
      const bool done = static_cast<bool>(
          fs::end_mounts_of(*store_, *daemon_, VnfsId{kServiceId}, epoch, {name_, "cut"}));
      if (done) service_.ended(epoch.value());
      return done;
    });
    if (ended && commit(end->plan)) return;
  }
}

}  // namespace symnas::sim
