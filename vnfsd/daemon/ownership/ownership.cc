#include "vnfsd/daemon/ownership/ownership.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/version.h"
#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "ha/policy/planner.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/plans/change.h"
#include "vnfsd/plans/deciders.h"
#include "vnfsd/plans/placement.h"
#include "vnfsd/plans/plans.h"
#include "vnfsd/records/levels.h"

namespace symnas::vnfsd::daemon {
namespace {

Error owned_elsewhere(const std::string& vnfs, const std::string& head) {
  return {ErrorCode::kBusy,
          fmt::format("vnfs {}: head {} owns it (stop it there first: symnas vnfs stop {})", vnfs,
                      head, vnfs)};
}

// No instance of the VNFS has had a later epoch: its last owner has said which one it had when it
// gave the VNFS up, or whoever fenced that has. Whoever claims in between erases both.
bool came_after_all(const ClusterView& view, const std::string& vnfs, Epoch epoch) {
  if (view.owners.contains(vnfs)) return false;
  const auto move = view.moves.find(vnfs);
  const auto left = view.left.find(vnfs);
  const std::uint64_t last =
      std::max(move == view.moves.end() ? 0 : move->second.record.departure().epoch(),
               left == view.left.end() ? 0 : left->second.record.epoch());
  return last != 0 && last < epoch.value();
}

}  // namespace

Ownership::Ownership(const OwnershipParts& parts)
    : head_(parts.head),
      reader_(parts.reader),
      events_(parts.events),
      history_(parts.history),
      luns_(parts.luns),
      registrations_(parts.registrations) {}

// Nobody else gets the epoch: it is taken although it may never be used.
Result<instance::InstancePlan> Ownership::prepare(const std::string& vnfs) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(head_.store, kStoreDeadlineMs));
  SYMNAS_TRY(registrations_.check(view, vnfs));
  SYMNAS_ASSIGN(instance::InstancePlan plan, instance::plan_instance(view, head_.config, vnfs));
  kv::Txn txn;
  SYMNAS_ASSIGN(const std::uint64_t epoch,
                take_from_counter(view, kv::keys::kEpochCounter, 0xffffffff, txn));
  SYMNAS_ASSIGN(const kv::TxnResult taken,
                kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs));
  if (!taken.succeeded) {
    return fail(ErrorCode::kConflict, fmt::format("vnfs {}: records changed: again", vnfs));
  }
  plan.epoch = Epoch(epoch);
  plan.incarnation = head_.incarnation;
  plan.standby = true;
  plan.is_awaited = falling_to(view, head_.config.head_name).contains(vnfs);
  plan.luns = luns_.paths();
  return plan;
}

void Ownership::prepared(const std::string&) { reader_.look_again(); }

// The clients wait: what the watch has shown is tried first. The transaction compares what the plan
// is made from.
Result<instance::InstancePlan> Ownership::claim(const std::string& vnfs,
                                                std::optional<Epoch> prepared) {
  if (const auto seen = reader_.shown(); seen && *seen) {
    auto plan = claim_from(**seen, vnfs, prepared);
    if (plan || kv::maybe_executed(plan.error())) return plan;
  }
  SYMNAS_ASSIGN(const ClusterView view, reader_.fresh());
  return claim_from(view, vnfs, prepared);
}

Result<instance::InstancePlan> Ownership::claim_from(const ClusterView& view,
                                                     const std::string& vnfs,
                                                     std::optional<Epoch> prepared) {
  SYMNAS_ASSIGN(const auto* stored, find(view.vnfses, "vnfs", vnfs));
  if (stored->record.stopped()) {
    return fail(ErrorCode::kBusy, fmt::format("vnfs {}: stopped by the administrator", vnfs));
  }
  SYMNAS_TRY(head_.check_not_removed(view));
  const auto fence = view.fences.find(head_.config.head_name);
  Revision fence_revision;
  if (fence != view.fences.end()) {
    if (forbids_claims(fence->second.record, head_.incarnation))
      return fenced_here(fence->second.record);
    fence_revision = fence->second.mod_revision;
  }
  SYMNAS_TRY(registrations_.check(view, vnfs));
  const auto owner = view.owners.find(vnfs);
  Revision owner_revision;
  if (owner != view.owners.end()) {
    if (owner->second.record.head() != head_.config.head_name) {
      return tl::unexpected<Error>(owned_elsewhere(vnfs, owner->second.record.head()));
    }
    owner_revision = owner->second.mod_revision;
  } else if (std::ranges::find(stored->record.heads(), head_.config.head_name) ==
             stored->record.heads().end()) {
    return fail(ErrorCode::kBusy,
                fmt::format("vnfs {}: {} is none of its heads", vnfs, head_.config.head_name));
  }
  const ha::Facts facts = facts_of(view);
  if (facts.decided && owner == view.owners.end() &&
      ha::plan(facts).at(vnfs).head != head_.config.head_name) {
    return fail(ErrorCode::kBusy, fmt::format("vnfs {}: {} does not want it here", vnfs,
                                              name_of(view.cluster.record.decider())));
  }
  const std::string& target = facts.vnfses.at(vnfs).target;
  const bool target_serves = !target.empty() && facts.heads.at(target) == ha::HeadState::kServing;
  if (owner == view.owners.end() && target_serves && target != head_.config.head_name) {
    return fail(ErrorCode::kBusy, fmt::format("vnfs {}: is on its way to {}", vnfs, target));
  }
  SYMNAS_ASSIGN(instance::InstancePlan plan, instance::plan_instance(view, head_.config, vnfs));
  kv::Txn txn;
  std::uint64_t epoch = 0;
  if (prepared && came_after_all(view, vnfs, *prepared)) {
    epoch = prepared->value();
  } else {
    SYMNAS_ASSIGN(epoch, take_from_counter(view, kv::keys::kEpochCounter, 0xffffffff, txn));
  }
  records::OwnerRecord record;
  record.set_head(head_.config.head_name);
  record.set_incarnation(head_.incarnation);
  record.set_epoch(epoch);
  record.set_vnfs_id(stored->record.vnfs_id());
  record.set_claimed_ns(head_.clock.wall_ns());
  record.set_version(kVersion);
  record.set_level(level::kOwn);
  txn.compares.push_back(kv::mod_revision_is(plan.owner_key, owner_revision));
  txn.compares.push_back(kv::mod_revision_is(kv::keys::kVnfs + vnfs, stored->mod_revision));
  // A later edit of the exports sees the owner, and waits for it.
  txn.compares.push_back(unchanged_since(view, kv::keys::kExports));
  txn.compares.push_back(unchanged_since(view, kv::keys::kNetworks));
  head_.compare_admission(view, txn);
  txn.compares.push_back(
      kv::mod_revision_is(kv::keys::kFences + head_.config.head_name, fence_revision));
  // Whether its last owner had an earlier epoch than a standby is true of this one only.
  const auto left = view.left.find(vnfs);
  txn.compares.push_back(kv::mod_revision_is(
      kv::keys::kLeft + vnfs, left == view.left.end() ? Revision{} : left->second.mod_revision));
  txn.success.push_back(kv::put(plan.owner_key, record.SerializeAsString()));
  txn.success.push_back(kv::erase(kv::keys::kLeft + vnfs));
  const auto move = view.moves.find(vnfs);
  const bool ordered = move != view.moves.end();
  txn.compares.push_back(kv::mod_revision_is(kv::keys::kMoves + vnfs,
                                             ordered ? move->second.mod_revision : Revision{}));
  if (ordered && owner == view.owners.end() && move->second.record.to() != head_.config.head_name) {
    // The head of the order was lost on the way, and still is: the order is over.
    const std::string& to = move->second.record.to();
    const auto head = view.heads.find(to);
    const auto lost = view.fences.find(to);
    txn.compares.push_back(kv::mod_revision_is(
        kv::keys::kHeads + to, head == view.heads.end() ? Revision{} : head->second.mod_revision));
    txn.compares.push_back(
        kv::mod_revision_is(kv::keys::kFences + to,
                            lost == view.fences.end() ? Revision{} : lost->second.mod_revision));
    txn.success.push_back(kv::erase(kv::keys::kMoves + vnfs));
  }
  const auto result = kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs);
  if (result && !result->succeeded) {
    return fail(ErrorCode::kConflict,
                fmt::format("vnfs {}: records changed: claiming again", vnfs));
  }
  if (result) {
    plan.owner_mod_revision = result->revision;
  } else if (kv::maybe_executed(result.error())) {
    // The epoch is taken once only: a record that carries it is ours. (If the transaction comes to
    // be later, the next claim supersedes it; this instance's epoch was never used.)
    SYMNAS_ASSIGN(const ClusterView now, read_view(head_.store, kStoreDeadlineMs));
    const auto mine = now.owners.find(vnfs);
    if (mine == now.owners.end() || mine->second.record.epoch() != epoch ||
        mine->second.record.head() != head_.config.head_name) {
      return tl::unexpected<Error>(result.error());
    }
    plan.owner_mod_revision = mine->second.mod_revision;
  } else {
    return tl::unexpected<Error>(result.error());
  }
  plan.epoch = Epoch(epoch);
  plan.incarnation = head_.incarnation;
  plan.luns = luns_.paths();
  reader_.must_show(plan.owner_mod_revision);
  log::info("vnfs {}: claimed with epoch {}", vnfs, epoch);
  return plan;
}

Result<instance::InstancePlan> Ownership::plan_of(const std::string& vnfs,
                                                  const instance::InstanceState& state) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(head_.store, kStoreDeadlineMs));
  SYMNAS_ASSIGN(instance::InstancePlan plan, instance::plan_instance(view, head_.config, vnfs));
  plan.epoch = state.epoch;
  plan.incarnation = state.incarnation;
  plan.owner_mod_revision = state.owner_mod_revision;
  plan.luns = luns_.paths();
  return plan;
}

}  // namespace symnas::vnfsd::daemon
