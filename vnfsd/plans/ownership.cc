#include "vnfsd/plans/ownership.h"

#include <algorithm>
#include <ranges>

#include <fmt/core.h>

#include "common/base/version.h"
#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "ha/policy/planner.h"
#include "vnfsd/plans/change.h"
#include "vnfsd/plans/deciders.h"
#include "vnfsd/plans/levels.h"
#include "vnfsd/plans/placement.h"
#include "vnfsd/plans/plans.h"
#include "vnfsd/records/levels.h"
#include "vnfsd/records/limits.h"

namespace symnas::vnfsd {
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

// Whether the head may own the VNFS at all. Errors: those of plan_claim().
Status check_may_own(const ClusterView& view, const HeadBoot& boot, const std::string& vnfs) {
  SYMNAS_ASSIGN(const auto* stored, find(view.vnfses, "vnfs", vnfs));
  if (stored->record.stopped()) {
    return fail(ErrorCode::kBusy, fmt::format("vnfs {}: stopped by the administrator", vnfs));
  }
  SYMNAS_TRY(check_not_removed(view, boot));
  const auto fence = view.fences.find(boot.head);
  if (fence != view.fences.end() && forbids_claims(fence->second.record, boot.incarnation))
    return fenced_here(fence->second.record);
  const auto owner = view.owners.find(vnfs);
  if (owner != view.owners.end()) {
    if (owner->second.record.head() != boot.head) {
      return tl::unexpected<Error>(owned_elsewhere(vnfs, owner->second.record.head()));
    }
  } else if (std::ranges::find(stored->record.heads(), boot.head) == stored->record.heads().end()) {
    return fail(ErrorCode::kBusy, fmt::format("vnfs {}: {} is none of its heads", vnfs, boot.head));
  }
  const ha::Facts facts = facts_of(view);
  if (facts.decided && owner == view.owners.end() && ha::plan(facts).at(vnfs).head != boot.head) {
    return fail(ErrorCode::kBusy, fmt::format("vnfs {}: {} does not want it here", vnfs,
                                              name_of(view.cluster.record.decider())));
  }
  const std::string& target = facts.vnfses.at(vnfs).target;
  const bool target_serves = !target.empty() && facts.heads.at(target) == ha::HeadState::kServing;
  if (owner == view.owners.end() && target_serves && target != boot.head) {
    return fail(ErrorCode::kBusy, fmt::format("vnfs {}: is on its way to {}", vnfs, target));
  }
  return {};
}

// An order that led elsewhere is over when its head was lost on the way, and still is.
void compare_order(const ClusterView& view, const HeadBoot& boot, const std::string& vnfs,
                   kv::Txn& txn) {
  const auto move = view.moves.find(vnfs);
  const bool ordered = move != view.moves.end();
  txn.compares.push_back(kv::mod_revision_is(kv::keys::kMoves + vnfs,
                                             ordered ? move->second.mod_revision : Revision{}));
  if (ordered && !view.owners.contains(vnfs) && move->second.record.to() != boot.head) {
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
}

}  // namespace

Result<kv::Txn> plan_register(const ClusterView& view, const HeadBoot& boot,
                              records::HeadRecord said) {
  SYMNAS_TRY(check_not_removed(view, boot));
  kv::Txn txn;
  compare_admission(view, boot, txn);
  // Another machine's, or another life of this one.
  if (view.removed.contains(boot.head))
    txn.success.push_back(kv::erase(kv::keys::kRemoved + boot.head));
  // Whoever raises the level compares this head's record, and this head the cluster's.
  txn.compares.push_back(kv::mod_revision_is(kv::keys::kCluster, view.cluster.mod_revision));
  const auto old = view.heads.find(boot.head);
  records::HeadRecord head;
  if (old != view.heads.end()) head = old->second.record;
  head.set_name(boot.head);
  head.set_address(said.address());
  *head.mutable_probe_addresses() = said.probe_addresses();
  *head.mutable_macs() = said.macs();
  head.set_seal_key(said.seal_key());
  head.set_incarnation(boot.incarnation);
  head.set_agent_started_ns(said.agent_started_ns());
  head.set_version(kVersion);
  head.set_level(level::kOwn);
  head.set_level_of_ns(head.agent_started_ns());
  head.clear_luns();  // said anew when they are open
  head.clear_luns_known();
  const std::string fence_key = kv::keys::kFences + boot.head;
  const auto fence = view.fences.find(boot.head);
  if (fence == view.fences.end()) {
    txn.compares.push_back(kv::key_absent(fence_key));
  } else {
    if (forbids_claims(fence->second.record, boot.incarnation))
      return fenced_here(fence->second.record);
    // An earlier boot's: this one has nothing to do with it.
    txn.compares.push_back(kv::mod_revision_is(fence_key, fence->second.mod_revision));
    txn.success.push_back(kv::erase(fence_key));
  }
  SYMNAS_TRY(check_level(view, kVersion));
  const std::string key = kv::keys::kHeads + boot.head;
  txn.compares.push_back(
      kv::mod_revision_is(key, old == view.heads.end() ? Revision{} : old->second.mod_revision));
  txn.success.push_back(kv::put(key, head.SerializeAsString()));
  return txn;
}

Result<Claim> plan_claim(const ClusterView& view, const HeadBoot& boot, const std::string& vnfs,
                         std::optional<Epoch> prepared, std::int64_t now_ns) {
  SYMNAS_ASSIGN(const auto* stored, find(view.vnfses, "vnfs", vnfs));
  SYMNAS_TRY(check_may_own(view, boot, vnfs));
  const auto owner = view.owners.find(vnfs);
  const auto fence = view.fences.find(boot.head);
  Claim claim{{}, kv::keys::kOwners + vnfs};
  kv::Txn& txn = claim.txn;
  if (prepared && came_after_all(view, vnfs, *prepared)) {
    claim.epoch = prepared->value();
  } else {
    SYMNAS_ASSIGN(claim.epoch, take_from_counter(view, kv::keys::kEpochCounter, 0xffffffff, txn));
  }
  records::OwnerRecord record;
  record.set_head(boot.head);
  record.set_incarnation(boot.incarnation);
  record.set_epoch(claim.epoch);
  record.set_vnfs_id(stored->record.vnfs_id());
  record.set_claimed_ns(now_ns);
  record.set_version(kVersion);
  record.set_level(level::kOwn);
  txn.compares.push_back(kv::mod_revision_is(
      claim.owner_key, owner == view.owners.end() ? Revision{} : owner->second.mod_revision));
  txn.compares.push_back(kv::mod_revision_is(kv::keys::kVnfs + vnfs, stored->mod_revision));
  // A later edit of the exports sees the owner, and waits for it.
  txn.compares.push_back(unchanged_since(view, kv::keys::kExports));
  const auto keytab = view.keytabs.find(vnfs);
  txn.compares.push_back(
      kv::mod_revision_is(kv::keys::kKeytabs + vnfs,
                          keytab == view.keytabs.end() ? Revision{} : keytab->second.mod_revision));
  txn.compares.push_back(unchanged_since(view, kv::keys::kNetworks));
  compare_admission(view, boot, txn);
  txn.compares.push_back(
      kv::mod_revision_is(kv::keys::kFences + boot.head,
                          fence == view.fences.end() ? Revision{} : fence->second.mod_revision));
  // Whether its last owner had an earlier epoch than a standby is true of this one only.
  const auto left = view.left.find(vnfs);
  txn.compares.push_back(kv::mod_revision_is(
      kv::keys::kLeft + vnfs, left == view.left.end() ? Revision{} : left->second.mod_revision));
  txn.success.push_back(kv::put(claim.owner_key, record.SerializeAsString()));
  txn.success.push_back(kv::erase(kv::keys::kLeft + vnfs));
  compare_order(view, boot, vnfs, txn);
  return claim;
}

std::optional<Release> plan_release(const ClusterView& view, const HeadBoot& boot,
                                    const std::string& vnfs, const Leaving& leaving) {
  const auto owner = view.owners.find(vnfs);
  if (owner == view.owners.end() || owner->second.record.head() != boot.head) return std::nullopt;
  if (!check_not_removed(view, boot)) return std::nullopt;  // another machine's of this name
  Release release{{}, leaving.departure};
  records::Departure& departure = release.departure;
  kv::Txn& txn = release.txn;
  const auto move = view.moves.find(vnfs);
  if (move != view.moves.end()) departure.set_cause(records::DEPARTURE_MOVED);
  txn.compares.push_back(kv::mod_revision_is(kv::keys::kOwners + vnfs, owner->second.mod_revision));
  txn.success.push_back(kv::erase(kv::keys::kOwners + vnfs));
  if (!leaving.connections.empty() || !leaving.unheard.empty()) {
    records::ConnectionsRecord connections;
    for (const std::string& tcp : leaving.connections | std::views::take(kConnectionsRecorded))
      connections.add_tcp(tcp);
    for (const std::string& tcp : leaving.unheard) connections.add_unheard(tcp);
    txn.success.push_back(kv::put(kv::keys::kConnections + vnfs, connections.SerializeAsString()));
  } else if (departure.epoch() != 0) {  // its last instance has said that there are none
    txn.success.push_back(kv::erase(kv::keys::kConnections + vnfs));
  }
  if (move != view.moves.end()) {
    records::MoveRecord left = move->second.record;
    *left.mutable_departure() = departure;
    // Also when no instance has run: whoever comes after has a later epoch than all there were.
    left.mutable_departure()->set_epoch(std::max(departure.epoch(), owner->second.record.epoch()));
    txn.success.push_back(kv::put(kv::keys::kMoves + vnfs, left.SerializeAsString()));
  }
  txn.compares.push_back(kv::mod_revision_is(
      kv::keys::kMoves + vnfs, move == view.moves.end() ? Revision{} : move->second.mod_revision));
  return release;
}

tl::unexpected<Error> fenced_here(const records::FenceRecord& fence) {
  return fail(ErrorCode::kPermission,
              fmt::format("head {}: this boot of it was fenced by head {}: {} (reboot it: the next "
                          "boot serves again)",
                          fence.head(), fence.by(),
                          fence.proof().empty() ? "no proof yet" : fence.proof()));
}

}  // namespace symnas::vnfsd
