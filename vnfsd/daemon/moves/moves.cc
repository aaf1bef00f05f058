#include "vnfsd/daemon/moves/moves.h"

#include <net/if.h>

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "cvm/volume.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/journal/commit.h"
#include "vnfsd/daemon/moves/limits.h"
#include "vnfsd/instance/crash_point.h"
#include "vnfsd/instance/plan.h"
#include "vnfsd/plans/limits.h"
#include "vnfsd/plans/placement.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {
namespace {

std::set<std::string> bytes_of(const std::set<std::string>& uuids) {
  std::set<std::string> out;
  for (const std::string& text : uuids) {
    if (const auto uuid = Uuid::parse(text)) out.insert(cvm::uuid_to_bytes(*uuid));
  }
  return out;
}

}  // namespace

void Moves::follow(const ClusterView& view) {
  auto ages = order_ages_.look(head_.clock.mono_ns(), view);
  answer_moves(view, ages);
  order_moves(view, std::move(ages));
  look_at_drain(view);
}

Status Moves::check_can_take(const ClusterView& view, const std::string& vnfs) const {
  const auto self = view.heads.find(head_.config.head_name);
  if (self != view.heads.end() && self->second.record.draining())
    return fail(ErrorCode::kBusy, "this head is being drained");
  SYMNAS_TRY(parts_.registrations.check(view, vnfs));
  SYMNAS_ASSIGN(const instance::InstancePlan plan,
                instance::plan_instance(view, head_.config, vnfs));
  for (const instance::LinkPlan& link : plan.links) {
    if (const std::string why = parts_.networks.why_ill(link.network); !why.empty())
      return fail(ErrorCode::kBusy, fmt::format("network {}: {}", link.network, why));
    if (::if_nametoindex(link.device.c_str()) != 0) continue;
    return fail(ErrorCode::kNotFound,
                fmt::format("network {}: this head has no device {}", link.network, link.device));
  }
  if (self != view.heads.end() && self->second.record.luns_known() &&
      reaches_all_of(view, vnfs, head_.config.head_name)) {
    return {};
  }
  return fail(ErrorCode::kBusy, "this head has not all its LUNs open");
}

// A step that fails is repeated with the next change of the records, or by the next look at them.
void Moves::answer_moves(const ClusterView& view, const std::map<Revision, std::int64_t>& ages) {
  preparing_.clear();
  for (const auto& [vnfs, move] : view.moves) {
    if (move.record.to() != head_.config.head_name || !view.vnfses.contains(vnfs)) continue;
    if (move.record.ready_incarnation() == head_.incarnation) {
      if (view.owners.contains(vnfs)) preparing_.insert(vnfs);
      finish_move(view, vnfs);
      continue;
    }
    // It came here without an answer of this boot.
    const auto owner = view.owners.find(vnfs);
    if (owner != view.owners.end() && owner->second.record.head() == head_.config.head_name) {
      finish_move(view, vnfs);
      continue;
    }
    // The administrator who gave the order does not wait any more.
    if (ages.at(move.mod_revision) > kOrderNs) continue;
    // A decider's order is for one boot.
    if (view.cluster.record.decider() != records::DECIDER_BUILTIN &&
        view.vnfses.at(vnfs).record.decided_incarnation() != head_.incarnation) {
      continue;
    }
    if (const Status able = check_can_take(view, vnfs); !able) {
      say_why_not(vnfs, move, able.error().message);
      continue;
    }
    if (view.owners.contains(vnfs)) {
      preparing_.insert(vnfs);
      std::string why_not;
      if (!is_prepared(vnfs, why_not)) {
        if (!why_not.empty()) say_why_not(vnfs, move, why_not);
        continue;
      }
    }
    records::MoveRecord ready = move.record;
    ready.set_ready_incarnation(head_.incarnation);
    ready.clear_refusal();
    const std::string key = kv::keys::kMoves + vnfs;
    kv::Txn txn;
    txn.compares.push_back(kv::mod_revision_is(key, move.mod_revision));
    txn.success.push_back(kv::put(key, ready.SerializeAsString()));
    const auto done = kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs);
    if (!done) log::warn("vnfs {}: taking it over: {}", vnfs, done.error().message);
    crash_point("answered", vnfs);
  }
  prepare_for_fences(view);
}

// Standbys of their VNFSs start while the heads are being fenced; not again each time a fence
// fails.
void Moves::prepare_for_fences(const ClusterView& view) {
  const std::int64_t now_ms = head_.clock.mono_ns() / 1'000'000;
  for (const auto& [head, fence] : view.fences) {
    if (fence.record.state() != records::FENCE_FAILED) continue;
    auto& [revision, since_ms] = unproven_[fence.record.incarnation()];
    if (std::exchange(revision, fence.mod_revision) != fence.mod_revision) since_ms = now_ms;
  }
  std::erase_if(unproven_, [&](const auto& one) {
    return std::ranges::none_of(view.fences, [&](const auto& fence) {
      return fence.second.record.incarnation() == one.first;
    });
  });
  for (const std::string& vnfs : falling_to(view, head_.config.head_name)) {
    const auto unproven = unproven_.find(view.owners.at(vnfs).record.incarnation());
    const bool failed =
        unproven != unproven_.end() && now_ms - unproven->second.second <= kUnprovenMs;
    if (!failed && check_can_take(view, vnfs)) preparing_.insert(vnfs);
  }
}

bool Moves::is_prepared(const std::string& vnfs, std::string& why_not) {
  const auto instances = parts_.instances.snapshots();
  const auto found = instances.find(vnfs);
  if (found == instances.end()) return false;
  const instance::InstanceSnapshot& snapshot = found->second;
  if (!snapshot.vips_taken.empty()) why_not = snapshot.vips_taken;
  return snapshot.phase == instance::Phase::kPrepared;
}

// When served() could not.
void Moves::finish_move(const ClusterView& view, const std::string& vnfs) {
  const auto owner = view.owners.find(vnfs);
  if (owner == view.owners.end() || owner->second.record.head() != head_.config.head_name) return;
  const auto instances = parts_.instances.snapshots();
  const auto found = instances.find(vnfs);
  if (found == instances.end() || found->second.standing() != InstanceStanding::kServing) return;
  if (const Status ended = parts_.ownership.end_move(vnfs); !ended)
    log::warn("{}", ended.error().message);
}

// A step that fails is repeated with the next look at the records.
void Moves::order_moves(const ClusterView& view, std::map<Revision, std::int64_t> ages) {
  const std::int64_t now_ms = head_.clock.mono_ns() / 1'000'000;
  const Observed observed{settling_.look(now_ms, view, head_.config.failback.settle_s * 1000),
                          head_.clock.wall_ns(),
                          head_.config.head_name,
                          bytes_of(parts_.canaries.worse()),
                          std::move(ages),
                          parts_.networks.worse()};
  moving_ = has_own_moves(view, head_.config.head_name);
  if (!plan_own_moves(view, head_.config.head_name, observed)) return;  // nothing is to be moved
  moving_ = true;
  const auto done = commit(
      head_, parts_.events,
      [&](const ClusterView& now) { return plan_own_moves(now, head_.config.head_name, observed); },
      Mode::kCommit);
  if (!done && done.error().code != ErrorCode::kNotFound)
    log::warn("head {}: its moves: {}", head_.config.head_name, done.error().message);
}

void Moves::say_why_not(const std::string& vnfs, const Stored<records::MoveRecord>& move,
                        const std::string& why) {
  if (move.record.refusal() == why) return;
  log::error("vnfs {}: is not taken over: {}", vnfs, why);
  records::MoveRecord refused = move.record;
  refused.set_refusal(why);
  const std::string key = kv::keys::kMoves + vnfs;
  kv::Txn txn;
  txn.compares.push_back(kv::mod_revision_is(key, move.mod_revision));
  txn.success.push_back(kv::put(key, refused.SerializeAsString()));
  parts_.events.add(txn, make_event(event::kMoveRefused,
                                    fmt::format("vnfs {}: {} does not take it over: {}", vnfs,
                                                head_.config.head_name, why),
                                    head_.clock.wall_ns()));
  const auto done = kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs);
  if (!done) log::warn("vnfs {}: refusing it: {}", vnfs, done.error().message);
}

// Says when the last of its VNFSs has gone.
void Moves::look_at_drain(const ClusterView& view) {
  const auto self = view.heads.find(head_.config.head_name);
  const bool draining = self != view.heads.end() && self->second.record.draining();
  const bool owns = std::any_of(view.owners.begin(), view.owners.end(), [&](const auto& owner) {
    return owner.second.record.head() == head_.config.head_name;
  });
  if (drains_ && draining && !owns)
    parts_.events.tell(event::kHeadDrained,
                       fmt::format("head {}: is drained", head_.config.head_name));
  drains_ = draining && owns;
}

}  // namespace symnas::vnfsd::daemon
