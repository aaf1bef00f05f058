#include "vnfsd/plans/deciders.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/kv/keys.h"
#include "vnfsd/plans/levels.h"
#include "vnfsd/plans/placement.h"
#include "vnfsd/plans/plans.h"
#include "vnfsd/records/levels.h"

namespace symnas::vnfsd {
namespace {

using Standing = DeciderSight::Standing;

std::string owner_of(const ClusterView& view, const std::string& vnfs) {
  const auto owner = view.owners.find(vnfs);
  return owner == view.owners.end() ? "" : owner->second.record.head();
}

const Stored<records::MoveRecord>* move_of(const ClusterView& view, const std::string& vnfs) {
  const auto move = view.moves.find(vnfs);
  return move == view.moves.end() ? nullptr : &move->second;
}

Status check_order(const ClusterView& view, const DeciderOrder& order) {
  if (view.cluster.record.decider() != order.by) {
    return fail(ErrorCode::kPermission,
                fmt::format("vnfs {}: {} decides where VNFSs run, not {} (symnas ha decider {})",
                            order.vnfs, name_of(view.cluster.record.decider()), name_of(order.by),
                            name_of(order.by)));
  }
  SYMNAS_TRY(find(view.vnfses, "vnfs", order.vnfs));
  SYMNAS_TRY(find(view.heads, "head", order.head));
  return {};
}

// The record with the decision. `head`: "" = nowhere.
records::VnfsRecord decided(const ClusterView& view, records::VnfsRecord vnfs,
                            const std::string& head) {
  vnfs.set_decided_head(head);
  vnfs.set_decided_incarnation(head.empty() ? "" : view.heads.at(head).record.incarnation());
  vnfs.clear_pinned();
  return vnfs;
}

// Puts the decision, unless the record has it.
void decide(const ClusterView& view, const records::VnfsRecord& vnfs, const std::string& head,
            Change& change) {
  const records::VnfsRecord record = decided(view, vnfs, head);
  if (vnfs.decided_head() == record.decided_head() &&
      vnfs.decided_incarnation() == record.decided_incarnation()) {
    return;
  }
  change.txn.success.push_back(kv::put(kv::keys::kVnfs + vnfs.name(), record.SerializeAsString()));
}

tl::unexpected<Error> nothing_to_do(const DeciderOrder& order, std::string_view why) {
  return fail(ErrorCode::kAlreadyExists,
              fmt::format("vnfs {}: {} {}", order.vnfs, order.head, why));
}

void erase_order(const std::string& vnfs, Revision mod_revision, Change& change) {
  change.txn.compares.push_back(kv::mod_revision_is(kv::keys::kMoves + vnfs, mod_revision));
  change.txn.success.push_back(kv::erase(kv::keys::kMoves + vnfs));
}

// Takes back an order that nobody has answered. Returns the head to which an answered one brings
// the VNFS; "": there is none.
std::string take_back_order(const ClusterView& view, const std::string& vnfs, Change& change) {
  const auto* move = move_of(view, vnfs);
  if (move == nullptr) return "";
  if (was_answered(view, move->record)) return move->record.to();
  erase_order(vnfs, move->mod_revision, change);
  return "";
}

// Its owner's head is gone: nothing answers an order, the proof of its end is waited for.
bool is_held(const ClusterView& view, const std::string& owner) {
  const auto head = view.heads.find(owner);
  return head == view.heads.end() || is_fenced(view, head->second.record);
}

}  // namespace

Result<Change> plan_decider(const ClusterView& view, records::Decider wanted) {
  if (view.cluster.record.decider() == wanted) {
    return fail(ErrorCode::kAlreadyExists, fmt::format("cluster: {} decides", name_of(wanted)));
  }
  SYMNAS_TRY(needs_level(view, level::kDeciders, "another decider"));
  if (!view.moves.empty()) {
    return fail(ErrorCode::kBusy, fmt::format("vnfs {}: is being moved: try again in a moment",
                                              view.moves.begin()->first));
  }
  Change change{fmt::format("cluster: {} decides where VNFSs run, was {}", name_of(wanted),
                            name_of(view.cluster.record.decider())),
                {}};
  change.decider = wanted;
  for (const auto& [name, head] : view.heads) {
    if (wanted == records::DECIDER_BUILTIN || !head.record.draining()) continue;
    return fail(ErrorCode::kBusy, fmt::format("head {}: is being drained, which {} would not know "
                                              "(symnas head undrain {})",
                                              name, name_of(wanted), name));
  }
  for (const auto& [name, vnfs] : view.vnfses) {
    const std::string owner = view.heads.contains(owner_of(view, name)) ? owner_of(view, name) : "";
    const bool is_builtin = wanted == records::DECIDER_BUILTIN;
    records::VnfsRecord record = decided(view, vnfs.record, is_builtin ? "" : owner);
    const bool would_go = is_builtin && !owner.empty() && record.heads(0) != owner &&
                          record.failback() == records::FAILBACK_AUTO;
    if (would_go) {
      record.set_pinned(owner);
      change.what += fmt::format(
          "\nvnfs {}: stays on {}: it fails back when it is told to (symnas "
          "vnfs failback {})",
          name, owner, name);
    }
    change.txn.success.push_back(kv::put(kv::keys::kVnfs + name, record.SerializeAsString()));
  }
  // Also what agents do without the cluster's record.
  change.txn.compares.push_back(unchanged_since(view, kv::keys::kOwners));
  change.txn.compares.push_back(unchanged_since(view, kv::keys::kMoves));
  change.txn.compares.push_back(unchanged_since(view, kv::keys::kHeads));
  return change;
}

Result<Change> plan_take(const ClusterView& view, const DeciderOrder& order, std::int64_t now_ns) {
  SYMNAS_TRY(check_order(view, order));
  const records::VnfsRecord& vnfs = view.vnfses.at(order.vnfs).record;
  if (vnfs.stopped()) {
    return fail(ErrorCode::kBusy,
                fmt::format("vnfs {}: an administrator has stopped it (symnas vnfs start {})",
                            order.vnfs, order.vnfs));
  }
  Change change{
      fmt::format("vnfs {}: {} wants it on {}", order.vnfs, name_of(order.by), order.head), {}};
  const std::string owner = owner_of(view, order.vnfs);
  if (owner == order.head) {
    const std::string to = take_back_order(view, order.vnfs, change);
    if (!to.empty() && to != order.head) {
      return fail(ErrorCode::kBusy, fmt::format("vnfs {}: is on its way to {}", order.vnfs, to));
    }
  } else {
    if (const Status able = check_can_serve(view, vnfs, order.head); !able) {
      return fail(able.error().code, fmt::format("vnfs {}: {} cannot take it: {}", order.vnfs,
                                                 order.head, able.error().message));
    }
    const auto* move = move_of(view, order.vnfs);
    const bool is_ordered = move != nullptr && move->record.to() == order.head;
    // Nobody answers the former order: what has answered it may be gone.
    if (owner.empty() && move != nullptr && !is_ordered)
      erase_order(order.vnfs, move->mod_revision, change);
    if (!owner.empty() && !is_ordered && !is_held(view, owner)) {
      SYMNAS_ASSIGN(Change moved, plan_vnfs_rehost(view, order.vnfs, order.head, now_ns, Pin::kNo));
      change.txn = std::move(moved.txn);
    }
  }
  decide(view, vnfs, order.head, change);
  if (change.txn.success.empty()) {
    return nothing_to_do(order, owner == order.head ? "serves it" : "is to serve it");
  }
  return change;
}

Result<Change> plan_leave(const ClusterView& view, const DeciderOrder& order) {
  SYMNAS_TRY(check_order(view, order));
  const records::VnfsRecord& vnfs = view.vnfses.at(order.vnfs).record;
  const bool is_owner = owner_of(view, order.vnfs) == order.head;
  const bool is_wanted = vnfs.decided_head() == order.head;
  // What goes to another head by an order is given up by that.
  const bool goes = !is_wanted && is_owner && is_decision_valid(view, vnfs);
  if ((!is_owner && !is_wanted) || goes) return nothing_to_do(order, "does not keep it");
  Change change{
      fmt::format("vnfs {}: {} wants it on {} no more", order.vnfs, name_of(order.by), order.head),
      {}};
  const auto* move = move_of(view, order.vnfs);
  if (move != nullptr && (move->record.to() == order.head || !was_answered(view, move->record)))
    erase_order(order.vnfs, move->mod_revision, change);
  // Whoever else serves it goes on.
  const std::string owner = owner_of(view, order.vnfs);
  const bool other_serves = !is_owner && view.heads.contains(owner);
  decide(view, vnfs, other_serves ? owner : "", change);
  if (change.txn.success.empty()) return nothing_to_do(order, "gives it up");
  return change;
}

Result<DeciderSight> look_as_decider(const ClusterView& view, const std::string& vnfs,
                                     const std::string& head,
                                     const std::optional<InstanceSight>& here) {
  SYMNAS_TRY(find(view.vnfses, "vnfs", vnfs));
  SYMNAS_TRY(find(view.heads, "head", head));
  DeciderSight out;
  out.owner = owner_of(view, vnfs);
  const auto* move = move_of(view, vnfs);
  const std::string to = move == nullptr ? "" : move->record.to();
  const records::VnfsRecord& record = view.vnfses.at(vnfs).record;
  const bool is_wanted = is_decision_valid(view, record) && record.decided_head() == head;
  if (out.owner != head) {
    if (to == head || is_wanted) {
      out.standing = Standing::kMoving;
      out.why = out.owner.empty() ? "it is being started" : fmt::format("{} has it yet", out.owner);
      if (move != nullptr && !move->record.refusal().empty()) out.why = move->record.refusal();
      return out;
    }
    out.why = out.owner.empty() ? "nobody serves it" : fmt::format("{} has it", out.owner);
    return out;
  }
  if (view.owners.at(vnfs).record.incarnation() != view.heads.at(head).record.incarnation()) {
    out.why = "a former boot of the head had it";
    return out;
  }
  if (is_held(view, head)) {
    out.standing = Standing::kSick;
    out.why = "this boot of the head was fenced: reboot it";
  } else if (!to.empty()) {
    out.standing = Standing::kMoving;
    out.why = fmt::format("it goes to {}", to);
  } else if (here && here->standing != InstanceStanding::kServing) {
    out.standing = here->error.empty() ? Standing::kMoving : Standing::kSick;
    out.why = here->error.empty()
                  ? fmt::format("its instance is {}",
                                here->standing ? name_of(*here->standing) : "not there")
                  : here->error;
  } else {
    out.standing = Standing::kServing;
    if (here) out.why = here->error;
  }
  return out;
}

const char* name_of(Standing standing) {
  switch (standing) {
    case Standing::kServing: return "serving";
    case Standing::kMoving: return "moving";
    case Standing::kSick: return "sick";
    case Standing::kStopped: return "stopped";
  }
  return "?";
}

bool is_decision_valid(const ClusterView& view, const records::VnfsRecord& vnfs) {
  const auto head = view.heads.find(vnfs.decided_head());
  return head != view.heads.end() && !head->second.record.incarnation().empty() &&
         head->second.record.incarnation() == vnfs.decided_incarnation();
}

Status check_builtin_decides(const ClusterView& view, const std::string& what,
                             const Instead& instead) {
  const records::Decider decider = view.cluster.record.decider();
  if (decider == records::DECIDER_BUILTIN) return {};
  return fail(
      ErrorCode::kBusy,
      fmt::format("{}: {} decides where VNFSs run: {} (or symnas ha decider builtin)", what,
                  name_of(decider),
                  decider == records::DECIDER_PACEMAKER ? instead.pacemaker : instead.keepalived));
}

}  // namespace symnas::vnfsd
