// SimHead: its vnfsd follows the records: what is wanted here, orders to answer, a silent peer to
// fence.
#include <utility>

#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "fsal_cluster/state/mount_end.h"
#include "tests/sim/service/head.h"
#include "tests/sim/service/records.h"
#include "vnfsd/plans/placement.h"
#include "vnfsd/plans/plans.h"
#include "vnfsd/plans/wanted.h"

namespace symnas::sim {

namespace {

namespace records = vnfsd::records;

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kDeadlineMs = 2'000;
constexpr std::int64_t kFollowNs = 50 * kNsPerMs;
constexpr std::int64_t kSilentNs = 500 * kNsPerMs;
// A head that answers is fenced all the same: by an administrator.
constexpr std::uint64_t kSpuriousPerMillion = 500;

// The time of a thread between its check and its answer.
constexpr std::int64_t kThreadNs = 100 * kNsPerMs;

}  // namespace

void SimHead::follow() {
  register_boot(*store_, boot());
  std::int64_t heard_ns = sim::now_ns();
  for (;; sleep_ns(kFollowNs)) {
    const auto now = view();
    if (!now) continue;
    say_luns_known(*store_, *now, name_);
    std::set<std::string> coming;
    const auto move = now->moves.find(kService);
    if (move != now->moves.end() && move->second.record.to() == name_) coming.insert(kService);
    if (vnfsd::falling_to(*now, name_).contains(kService)) coming.insert(kService);
    const auto wanted = vnfsd::wanted_on(*now, name_, coming);
    const auto mine = wanted.find(kService);
    wanted_ = mine == wanted.end() ? Wanted::kStopped : mine->second;
    followed_ = true;
    if (life_ != nullptr) answer_order(*now);
    SimHead& peer = *service_.other(*this);
    if (!peer.is_silent()) heard_ns = sim::now_ns();
    const bool silent = sim::now_ns() - heard_ns > kSilentNs;
    const bool spurious = service_.rough() && chance(kSpuriousPerMillion);
    // Also a fence that the vnfsd before this one, or nobody, has finished.
    const auto fence = now->fences.find(peer.name());
    const bool left_over = fence != now->fences.end() &&
                           fence->second.record.state() != records::FENCE_DONE &&
                           fence->second.record.incarnation() == peer.incarnation();
    if ((silent || spurious || left_over) && !std::exchange(fencing_, true))
      spawn(*daemon_, "fence", [this] {
        fence_peer();
        fencing_ = false;
      });
  }
}

// As daemon::Moves: a standby is prepared before the order is answered; who serves forgets it.
void SimHead::answer_order(const vnfsd::ClusterView& view) {
  const auto move = view.moves.find(kService);
  if (move == view.moves.end() || move->second.record.to() != name_) return;
  const std::string key = kv::keys::kMoves + kService;
  const auto owner = view.owners.find(kService);
  const bool owned = owner != view.owners.end();
  kv::Txn txn;
  txn.compares.push_back(kv::mod_revision_is(key, move->second.mod_revision));
  const bool mine = owned && owner->second.record.head() == name_;
  if (mine || move->second.record.ready_incarnation() == incarnation_) {
    if (!mine || life_->phase() != Phase::kServing) return;
    txn.success.push_back(kv::erase(key));
  } else {
    if (owned && life_->phase() != Phase::kPrepared) return;
    records::MoveRecord ready = move->second.record;
    ready.set_ready_incarnation(incarnation_);
    txn.success.push_back(kv::put(key, ready.SerializeAsString()));
  }
  static_cast<void>(kv::txn_blocking(*store_, std::move(txn), kDeadlineMs));
}

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

bool SimHead::put_fence(const records::FenceRecord& record, const vnfsd::ClusterView& view,
                        kv::Txn txn) {
  const std::string key = kv::keys::kFences + record.head();
  const auto old = view.fences.find(record.head());
  txn.compares.push_back(
      kv::mod_revision_is(key, old == view.fences.end() ? Revision{} : old->second.mod_revision));
  txn.success.push_back(kv::put(key, record.SerializeAsString()));
  const auto done = kv::txn_blocking(*store_, std::move(txn), kDeadlineMs);
  return done && done->succeeded;
}

// The steps of daemon::Fencing. Each may be the last one of this vnfsd: the next one begins anew.
void SimHead::fence_peer() {
  SimHead& peer = *service_.other(*this);
  auto now = view();
  if (!now || !now->heads.contains(peer.name())) return;
  const auto own = now->fences.find(name_);
  if (own != now->fences.end() && vnfsd::forbids_claims(own->second.record, incarnation_)) return;
  const vnfsd::Stored<records::HeadRecord>& victim = now->heads.at(peer.name());
  const std::string incarnation = victim.record.incarnation();
  if (incarnation != peer.incarnation()) return;  // it is booting
  records::FenceRecord fence;
  fence.set_head(peer.name());
  fence.set_incarnation(incarnation);
  fence.set_by(name_);
  fence.set_state(records::FENCE_RUNNING);
  kv::Txn begin;
  begin.compares = {
      kv::mod_revision_is(kv::keys::kHeads + peer.name(), victim.mod_revision),
      kv::mod_revision_is(kv::keys::kFences + name_,
                          own == now->fences.end() ? Revision{} : own->second.mod_revision)};
  if (!put_fence(fence, *now, std::move(begin))) return;
  crash_point("a fence has begun");
  std::optional<fs::LifeSigns> before;  // nullopt: another vnfsd has begun the fence
  if (below(4) != 0) before = signs_of(*now, peer.name());
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
  // Also puts its owner record again: nothing that compares it commits any more.
  for (;; sleep_ns(kFollowNs)) {
    now = view();
    if (!now) continue;
    const auto mine = now->fences.find(peer.name());
    if (mine == now->fences.end() || mine->second.record.incarnation() != incarnation ||
        mine->second.record.by() != name_)
      return;
    kv::Txn txn;
    const auto owner = now->owners.find(kService);
    if (owner != now->owners.end() && owner->second.record.head() == peer.name()) {
      const std::string key = kv::keys::kOwners + kService;
      txn.compares.push_back(kv::mod_revision_is(key, owner->second.mod_revision));
      txn.success.push_back(kv::put(key, owner->second.record.SerializeAsString()));
    }
    fence.set_state(records::FENCE_PROVEN);
    if (put_fence(fence, *now, std::move(txn))) break;
  }
  crash_point("it is proved");
  if (!power) wait_for_last_answers(before);
  for (;; sleep_ns(kFollowNs)) {
    now = view();
    if (!now) continue;
    const auto mine = now->fences.find(peer.name());
    if (mine == now->fences.end() || mine->second.record.incarnation() != incarnation) return;
    kv::Txn txn;
    std::uint64_t epoch = 0;
    const auto owner = now->owners.find(kService);
    if (owner != now->owners.end() && owner->second.record.head() == peer.name()) {
      epoch = owner->second.record.epoch();
      if (!fs::end_mounts_of(*store_, *daemon_, VnfsId{kServiceId}, Epoch{epoch}, {name_, "cut"}))
        continue;
      service_.ended(epoch);
      txn.compares.push_back(
          kv::mod_revision_is(kv::keys::kOwners + kService, owner->second.mod_revision));
      txn.success.push_back(kv::erase(kv::keys::kOwners + kService));
      records::LeftRecord left;
      left.set_epoch(epoch);
      txn.success.push_back(kv::put(kv::keys::kLeft + kService, left.SerializeAsString()));
    }
    fence.set_state(records::FENCE_DONE);
    if (put_fence(fence, *now, std::move(txn))) break;
  }
}

}  // namespace symnas::sim
