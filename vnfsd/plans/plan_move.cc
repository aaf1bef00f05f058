// Where a VNFS is to be served: orders of administrators, and the facts for the planner.
#include <algorithm>

#include <fmt/format.h>

#include "common/kv/keys.h"
#include "vnfsd/plans/limits.h"
#include "vnfsd/plans/placement.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd {
namespace {

tl::unexpected<Error> refused(ErrorCode code, const std::string& name, const std::string& head,
                              std::string_view why) {
  return fail(code, fmt::format("vnfs {}: cannot be moved to {}: {}", name, head, why));
}

std::string joined(const google::protobuf::RepeatedPtrField<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

// The LUNs of the VNFS that the head has not open, by name.
std::vector<std::string> missing_luns(const ClusterView& view, const records::VnfsRecord& vnfs,
                                      const records::HeadRecord& head) {
  std::vector<std::string> missing;
  for (const std::string& volume : volumes_of_vnfs(view, vnfs)) {
    for (const auto* lun : luns_of_volume(view, volume)) {
      const auto& open = head.luns();
      if (std::find(open.begin(), open.end(), lun->uuid()) == open.end()) {
        missing.push_back(lun->name());
      }
    }
  }
  return missing;
}

// The networks of the VNFS that the head reaches badly.
std::set<std::string> ill_networks(const records::VnfsRecord& vnfs,
                                   const records::HeadRecord& head) {
  std::set<std::string> ill;
  for (const records::Vip& vip : vnfs.vips()) {
    const auto& said = head.ill_networks();
    if (std::find(said.begin(), said.end(), vip.network()) != said.end()) ill.insert(vip.network());
  }
  return ill;
}

// `from` and the move that it replaces. Errors: kBusy, kAlreadyExists (it is there).
Result<records::MoveRecord> begin_move(const ClusterView& view, const std::string& name,
                                       const std::string& head, std::int64_t now_ns) {
  records::MoveRecord record;
  record.set_pinned_before(view.vnfses.at(name).record.pinned());
  const auto owner = view.owners.find(name);
  const auto move = view.moves.find(name);
  if (move != view.moves.end()) {
    // One whose head cannot finish it, or does not begin, may be replaced.
    const std::string& to = move->second.record.to();
    const bool over = move->second.record.ready_incarnation().empty() &&
                      now_ns - move->second.record.ordered_ns() > kOrderNs;
    if (!over && owner != view.owners.end() && owner->second.record.head() != to) {
      return refused(ErrorCode::kBusy, name, head, fmt::format("it is being moved to {}", to));
    }
    record.set_pinned_before(move->second.record.pinned_before());
  }
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
  SYMNAS_ASSIGN(const auto* stored, find(view.heads, "head", head));
  if (std::find(vnfs.heads().begin(), vnfs.heads().end(), head) == vnfs.heads().end()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("it is not one of its heads, {}", joined(vnfs.heads())));
  }
  if (stored->record.incarnation().empty()) {
    return fail(ErrorCode::kBusy, "it has never been started");
  }
  if (is_fenced(view, stored->record)) {
    return fail(ErrorCode::kBusy, "it is fenced (its next boot serves again: symnas status)");
  }
  if (stored->record.draining()) {
    return fail(ErrorCode::kBusy,
                fmt::format("it is being drained (symnas head undrain {})", head));
  }
  const std::set<std::string> ill = ill_networks(vnfs, stored->record);
  if (!ill.empty()) {
    return fail(ErrorCode::kBusy, fmt::format("it reaches badly: {} (symnas status there says why)",
                                              fmt::join(ill, ", ")));
  }
  const std::vector<std::string> missing = missing_luns(view, vnfs, stored->record);
  if (missing.empty()) return {};
  return fail(ErrorCode::kBusy, fmt::format("it has not open: {} (symnas status there says why)",
                                            fmt::join(missing, ", ")));
}

Result<Change> plan_vnfs_rehost(const ClusterView& view, const std::string& name,
                                const std::string& head, std::int64_t now_ns, Pin pin) {
  SYMNAS_ASSIGN(const auto* vnfs, find(view.vnfses, "vnfs", name));
  SYMNAS_TRY(find(view.heads, "head", head));
  if (const Status able = check_can_serve(view, vnfs->record, head); !able) {
    return refused(able.error().code, name, head, able.error().message);
  }
  if (vnfs->record.stopped()) {
    return refused(ErrorCode::kBusy, name, head,
                   fmt::format("it is stopped (symnas vnfs start {})", name));
  }
  SYMNAS_ASSIGN(records::MoveRecord record, begin_move(view, name, head, now_ns));
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
  // Its primary needs no pin: there is nothing to go back to.
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

bool reaches_all_of(const ClusterView& view, const std::string& vnfs, const std::string& head) {
  const records::HeadRecord& record = view.heads.at(head).record;
  const records::VnfsRecord& served = view.vnfses.at(vnfs).record;
  if (!ill_networks(served, record).empty()) return false;
  // Just started: it has not said yet what it sees.
  return !record.luns_known() || missing_luns(view, served, record).empty();
}

ha::Facts facts_of(const ClusterView& view) {
  ha::Facts facts;
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
