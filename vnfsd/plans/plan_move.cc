// Where a VNFS is to be served: orders of administrators, and the facts for the planner.
#include <algorithm>

#include <fmt/core.h>

#include "common/kv/keys.h"
#include "vnfsd/plans/deciders.h"
#include "vnfsd/plans/hindrances.h"
#include "vnfsd/plans/placement.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd {
namespace {

tl::unexpected<Error> refused(ErrorCode code, const std::string& name, const std::string& head,
                              std::string_view why) {
  return fail(code, fmt::format("vnfs {}: cannot be moved to {}: {}", name, head, why));
}

// `from` and the move that it replaces. Errors: kAlreadyExists (it is there).
Result<records::MoveRecord> begin_move(const ClusterView& view, const std::string& name,
                                       const std::string& head) {
  records::MoveRecord record;
  record.set_pinned_before(view.vnfses.at(name).record.pinned());
  const auto owner = view.owners.find(name);
  const auto move = view.moves.find(name);
  if (move != view.moves.end()) record.set_pinned_before(move->second.record.pinned_before());
  if (owner != view.owners.end()) record.set_from(owner->second.record.head());
  if (record.from() == head) {
    return fail(ErrorCode::kAlreadyExists, fmt::format("vnfs {}: {} serves it", name, head));
  }
  return record;
}

}  // namespace

bool is_fenced(const ClusterView& view, const records::HeadRecord& head) {
  const auto fence = view.fences.find(head.name());
  return fence != view.fences.end() && forbids_claims(fence->second.record, head.incarnation());
}

Status check_can_serve(const ClusterView& view, const records::VnfsRecord& vnfs,
                       const std::string& head) {
  SYMNAS_TRY(find(view.heads, "head", head));
  const std::vector<Hindrance> found = hindrances(view, vnfs, head);
  if (found.empty()) return {};
  const bool is_wrong = found.front().kind == Hindrance::Kind::kNotItsHead;
  return fail(is_wrong ? ErrorCode::kInvalidArgument : ErrorCode::kBusy, line_of(found.front()));
}

Result<Change> plan_vnfs_rehost(const ClusterView& view, const std::string& name,
                                const std::string& head, std::int64_t now_ns, Pin pin) {
  SYMNAS_ASSIGN(const auto* vnfs, find(view.vnfses, "vnfs", name));
  SYMNAS_TRY(find(view.heads, "head", head));
  if (const Status able = check_can_serve(view, vnfs->record, head); !able) {
    return refused(able.error().code, name, head, able.error().message);
  }
  const auto busy = hindrances_to_move(view, vnfs->record, now_ns);
  if (!busy.empty()) return refused(ErrorCode::kBusy, name, head, line_of(busy.front()));
  SYMNAS_ASSIGN(records::MoveRecord record, begin_move(view, name, head));
  record.set_to(head);
  record.set_ordered_ns(now_ns);
  Change change{fmt::format("vnfs {}: to be moved from {} to {}", name,
                            record.from().empty() ? "nowhere" : record.from(), head),
                {}};
  const auto replaced = view.moves.find(name);
  change.txn.compares.push_back(kv::mod_revision_is(
      kv::keys::kMoves + name,
      replaced == view.moves.end() ? Revision{} : replaced->second.mod_revision));
  change.txn.success.push_back(kv::put(kv::keys::kMoves + name, record.SerializeAsString()));
  // A VNFS on its primary needs no pin: there is nothing to go back to.
  const bool pinned = pin == Pin::kYes && vnfs->record.heads(0) != head;
  set_pin(vnfs->record, pinned ? head : "", change);
  return change;
}

Result<Change> plan_vnfs_stay(const ClusterView& view, const std::string& name) {
  SYMNAS_ASSIGN(const auto* vnfs, find(view.vnfses, "vnfs", name));
  const auto move = view.moves.find(name);
  if (move == view.moves.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("vnfs {}: is not being moved", name));
  }
  if (!move->second.record.ready_incarnation().empty() && !vnfs->record.stopped()) {
    return fail(ErrorCode::kBusy,
                fmt::format("vnfs {}: is on its way to {}", name, move->second.record.to()));
  }
  Change change{fmt::format("vnfs {}: is not moved to {}", name, move->second.record.to()), {}};
  take_back(view, name, change);
  return change;
}

ha::Facts facts_of(const ClusterView& view) {
  ha::Facts facts;
  facts.decided = view.cluster.record.decider() != records::DECIDER_BUILTIN;
  for (const auto& [name, head] : view.heads) {
    const bool lost = head.record.incarnation().empty() || is_fenced(view, head.record);
    facts.heads[name] = lost                     ? ha::HeadState::kLost
                        : head.record.draining() ? ha::HeadState::kDraining
                                                 : ha::HeadState::kServing;
  }
  for (const auto& [name, vnfs] : view.vnfses) {
    ha::VnfsFacts& out = facts.vnfses[name];
    out.heads.assign(vnfs.record.heads().begin(), vnfs.record.heads().end());
    out.stopped = vnfs.record.stopped();
    if (vnfs.record.failback() == records::FAILBACK_AUTO) out.failback = ha::Failback::kAuto;
    out.pinned = vnfs.record.pinned();
    for (const std::string& head : out.heads) {
      if (view.heads.contains(head) && !reaches_all_of(view, name, head)) out.blind.insert(head);
    }
    const auto owner = view.owners.find(name);
    if (owner != view.owners.end()) out.owner = owner->second.record.head();
    // Whoever serves keeps what was decided for a boot that is over.
    if (is_decision_valid(view, vnfs.record)) {
      out.decided = vnfs.record.decided_head();
    } else if (!vnfs.record.decided_head().empty()) {
      out.decided = out.owner;
    }
    const auto move = view.moves.find(name);
    if (move == view.moves.end()) continue;
    if (was_answered(view, move->second.record)) out.target = move->second.record.to();
  }
  return facts;
}

bool forbids_claims(const records::FenceRecord& fence, const std::string& incarnation) {
  return fence.incarnation() == incarnation && fence.state() != records::FENCE_FAILED;
}

bool is_any_being_cut_off(const ClusterView& view) {
  return std::ranges::any_of(view.fences, [](const auto& one) {
    return one.second.record.state() == records::FENCE_RUNNING;
  });
}

}  // namespace symnas::vnfsd
