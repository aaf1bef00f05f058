// SimHead: its vnfsd follows the records: what is wanted here, orders to answer, a peer that is
// silent.
#include <utility>

#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
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

}  // namespace symnas::sim
