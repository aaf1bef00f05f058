#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/kv/keys.h"
#include "vnfsd/plans/hindrances.h"
#include "vnfsd/plans/limits.h"
#include "vnfsd/plans/placement.h"

namespace symnas::vnfsd {
namespace {

bool is_own(const records::MoveRecord& move) { return move.cause() != records::MOVE_ADMINISTRATOR; }

Result<Change> plan_draining(const ClusterView& view, const std::string& name, bool draining,
                             std::string what) {
  SYMNAS_ASSIGN(const auto* stored, find(view.heads, "head", name));
  records::HeadRecord head = stored->record;
  head.set_draining(draining);
  Change change{std::move(what), {}};
  // The head's agent changes it too, without the cluster's record.
  change.txn.compares.push_back(kv::mod_revision_is(kv::keys::kHeads + name, stored->mod_revision));
  change.txn.success.push_back(kv::put(kv::keys::kHeads + name, head.SerializeAsString()));
  return change;
}

// `on_network`: what its owner reaches badly is one of its networks.
std::pair<records::MoveCause, const char*> cause_of(ha::Reason reason, bool on_network) {
  if (reason == ha::Reason::kDrained) return {records::MOVE_DRAIN, "the former is being drained"};
  if (reason == ha::Reason::kAiling && on_network)
    return {records::MOVE_NETWORK, "the former reaches its networks badly, the latter does not"};
  if (reason == ha::Reason::kAiling)
    return {records::MOVE_STORAGE, "the former reaches its LUNs badly, the latter does not"};
  return {records::MOVE_FAILBACK, "it fails back"};
}

bool uses_any(const ClusterView& view, const std::string& vnfs,
              const std::set<std::string>& lun_uuids) {
  for (const std::string& volume : volumes_of_vnfs(view, view.vnfses.at(vnfs).record)) {
    for (const auto* lun : luns_of_volume(view, volume)) {
      if (lun_uuids.contains(lun->uuid())) return true;
    }
  }
  return false;
}

bool is_on_any(const records::VnfsRecord& vnfs, const std::set<std::string>& networks) {
  return std::any_of(vnfs.vips().begin(), vnfs.vips().end(),
                     [&](const records::Vip& vip) { return networks.contains(vip.network()); });
}

// The plan of one head's own moves.
class OwnMoves {
 public:
  OwnMoves(const ClusterView& view, const std::string& head, const Observed& observed)
      : view_(view), head_(head), observed_(observed) {}

  Result<Change> plan() {
    for (const auto& [vnfs, move] : view_.moves) {
      const std::string why = why_over(move);
      if (!why.empty() && owns(vnfs) && view_.vnfses.contains(vnfs)) {
        end_order(vnfs, move.record, why);
      } else if (move.record.from() == head_) {
        ++under_way_;
      }
    }
    give_orders();
    for (const auto& [vnfs, owner] : view_.owners) {
      if (owner.record.head() == head_ && view_.vnfses.contains(vnfs)) forget_what_is_over(vnfs);
    }
    if (change_.txn.success.empty()) {
      return fail(ErrorCode::kNotFound, fmt::format("head {}: nothing is to be moved", head_));
    }
    return std::move(change_);
  }

 private:
  bool owns(const std::string& vnfs) const {
    const auto owner = view_.owners.find(vnfs);
    return owner != view_.owners.end() && owner->second.record.head() == head_;
  }

  // "" = the order stands.
  std::string why_over(const Stored<records::MoveRecord>& stored) const {
    const records::MoveRecord& move = stored.record;
    const auto to = view_.heads.find(move.to());
    const auto known = observed_.order_ages_ns.find(stored.mod_revision);
    const std::int64_t age_ns = known == observed_.order_ages_ns.end() ? 0 : known->second;
    if (to == view_.heads.end()) return "it is no head any more";
    if (is_fenced(view_, to->second.record)) return "it was fenced";
    if (to->second.record.draining()) return "it is being drained";
    if (was_answered(view_, move)) return "";
    if (!is_own(move)) {
      return age_ns <= kOrderNs ? "" : "it did not answer, and nobody took the order back";
    }
    if (!move.refusal().empty()) return move.refusal();
    if (age_ns > kAnswerNs) {
      return fmt::format("it has not answered for {} s", kAnswerNs / 1'000'000'000);
    }
    return "";
  }

  void say(const std::string& line) {
    change_.what += fmt::format("{}{}", change_.what.empty() ? "" : "\n", line);
  }

  void end_order(const std::string& vnfs, const records::MoveRecord& move, const std::string& why) {
    say(fmt::format("vnfs {}: is not moved to {}: {}", vnfs, move.to(), why));
    take_back(view_, vnfs, change_);
    const auto to = view_.heads.find(move.to());
    if (!is_own(move) || to == view_.heads.end()) return;
    records::RefusalsRecord record;
    for (records::Refusal& refusal : recent_refusals(view_, vnfs, observed_.now_ns)) {
      if (refusal.head() != move.to()) *record.add_refusals() = std::move(refusal);
    }
    records::Refusal& refusal = *record.add_refusals();
    refusal.set_head(move.to());
    refusal.set_incarnation(to->second.record.incarnation());
    refusal.set_why(why);
    refusal.set_at_ns(observed_.now_ns);
    change_.txn.success.push_back(kv::put(kv::keys::kRefusals + vnfs, record.SerializeAsString()));
  }

  void give_orders() {
    for (const auto& [vnfs, place] : ha::plan(facts_of(view_, observed_))) {
      if (!ha::needs_order(place.reason) || !owns(vnfs) || view_.moves.contains(vnfs)) continue;
      if (under_way_ >= kMovesAtOnceMax) return;
      ++under_way_;
      records::MoveRecord move;
      move.set_from(head_);
      move.set_to(place.head);
      move.set_ordered_ns(observed_.now_ns);
      const auto [cause, why] =
          cause_of(place.reason, is_on_any(view_.vnfses.at(vnfs).record, observed_.ill_networks));
      move.set_cause(cause);
      move.set_pinned_before(view_.vnfses.at(vnfs).record.pinned());
      say(fmt::format("vnfs {}: to be moved from {} to {}: {}", vnfs, head_, place.head, why));
      change_.txn.compares.push_back(kv::key_absent(kv::keys::kMoves + vnfs));
      change_.txn.compares.push_back(
          kv::mod_revision_is(kv::keys::kOwners + vnfs, view_.owners.at(vnfs).mod_revision));
      change_.txn.success.push_back(kv::put(kv::keys::kMoves + vnfs, move.SerializeAsString()));
    }
  }

  void forget_what_is_over(const std::string& vnfs) {
    const bool moving = view_.moves.contains(vnfs);
    const records::VnfsRecord& record = view_.vnfses.at(vnfs).record;
    if (!moving && !record.pinned().empty() && record.pinned() != head_) {
      say(fmt::format("vnfs {}: {} was lost, where an administrator had moved it to", vnfs,
                      record.pinned()));
      set_pin(record, "", change_);
    }
    if (!moving && view_.refusals.contains(vnfs) &&
        recent_refusals(view_, vnfs, observed_.now_ns).empty()) {
      say(fmt::format("vnfs {}: every head of it may be tried again", vnfs));
      change_.txn.success.push_back(kv::erase(kv::keys::kRefusals + vnfs));
    }
  }

  const ClusterView& view_;
  const std::string& head_;
  const Observed& observed_;
  int under_way_ = 0;
  Change change_;
};

}  // namespace

Result<Change> plan_head_drain(const ClusterView& view, const std::string& head,
                               std::int64_t now_ns) {
  SYMNAS_ASSIGN(Change change,
                plan_draining(view, head, true, fmt::format("head {}: is being drained", head)));
  ClusterView then = view;
  then.heads.at(head).record.set_draining(true);
  for (const auto& [vnfs, place] : ha::plan(facts_of(then, Observed{{}, now_ns}))) {
    const auto owner = view.owners.find(vnfs);
    if (owner == view.owners.end() || owner->second.record.head() != head) continue;
    if (place.head == head) {
      change.what += fmt::format("\nvnfs {}: stays: {}", vnfs,
                                 fmt::join(reasons_to_stay(then, vnfs, now_ns), "; "));
    } else if (!place.head.empty()) {
      change.what += fmt::format("\nvnfs {}: goes to {}", vnfs, place.head);
    }
  }
  return change;
}

Result<Change> plan_head_undrain(const ClusterView& view, const std::string& head) {
  return plan_draining(view, head, false, fmt::format("head {}: takes VNFSs again", head));
}

Result<Change> plan_vnfs_failback(const ClusterView& view, const std::string& name,
                                  std::int64_t now_ns) {
  SYMNAS_ASSIGN(const auto* vnfs, find(view.vnfses, "vnfs", name));
  const auto owner = view.owners.find(name);
  std::string why;
  for (const std::string& head : vnfs->record.heads()) {
    const bool there = owner != view.owners.end() && owner->second.record.head() == head;
    if (there && !view.moves.contains(name)) {
      Change change{
          fmt::format("vnfs {}: {} serves it, the first of its heads that can", name, head), {}};
      set_pin(vnfs->record, "", change);
      return change;
    }
    if (const Status able = check_can_serve(view, vnfs->record, head); !able) {
      why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", head, able.error().message);
      continue;
    }
    return plan_vnfs_rehost(view, name, head, now_ns, Pin::kNo);
  }
  return fail(ErrorCode::kBusy,
              fmt::format("vnfs {}: none of its heads can take it: {}", name, why));
}

Result<Change> plan_own_moves(const ClusterView& view, const std::string& head,
                              const Observed& observed) {
  return OwnMoves(view, head, observed).plan();
}

bool has_own_moves(const ClusterView& view, const std::string& head) {
  return std::any_of(view.moves.begin(), view.moves.end(), [&](const auto& entry) {
    return entry.second.record.from() == head && is_own(entry.second.record);
  });
}

std::set<std::string> falling_to(const ClusterView& view, const std::string& head) {
  const auto is_being_fenced = [&](const auto& owner) {
    const auto fence = view.fences.find(owner.second.record.head());
    return fence != view.fences.end() &&
           forbids_claims(fence->second.record, owner.second.record.incarnation());
  };
  std::set<std::string> falling;
  if (std::ranges::none_of(view.owners, is_being_fenced)) return falling;
  ClusterView then = view;
  std::erase_if(then.owners, is_being_fenced);
  for (const auto& [vnfs, place] : ha::plan(facts_of(then))) {
    if (place.head == head && view.owners.contains(vnfs) && !then.owners.contains(vnfs))
      falling.insert(vnfs);
  }
  return falling;
}

std::vector<std::string> reasons_to_stay(const ClusterView& view, const std::string& vnfs,
                                         std::int64_t now_ns) {
  const records::VnfsRecord& record = view.vnfses.at(vnfs).record;
  const auto owner = view.owners.find(vnfs);
  std::vector<std::string> reasons;
  for (const std::string& head : record.heads()) {
    if (owner != view.owners.end() && owner->second.record.head() == head) continue;
    const std::vector<Hindrance> found = own_hindrances(view, record, head, now_ns);
    if (found.empty()) return {};
    reasons.push_back(fmt::format("{}: {}", head, line_of(found.front())));
  }
  if (reasons.empty()) reasons.emplace_back("it has no other head");
  return reasons;
}

ha::Facts facts_of(const ClusterView& view, const Observed& observed) {
  ha::Facts facts = facts_of(view);
  facts.settled = observed.settled;
  for (auto& [name, vnfs] : facts.vnfses) {
    vnfs.ailing = vnfs.owner == observed.head &&
                  (uses_any(view, name, observed.ill_luns) ||
                   is_on_any(view.vnfses.at(name).record, observed.ill_networks));
    if (vnfs.ailing) vnfs.blind.insert(observed.head);  // whatever its record says yet
    for (const records::Refusal& refusal : recent_refusals(view, name, observed.now_ns)) {
      vnfs.refused.insert(refusal.head());
    }
    for (const std::string& head : vnfs.heads) {
      // Just started: it would not answer before it has opened its LUNs.
      const auto known = view.heads.find(head);
      if (known != view.heads.end() && !known->second.record.luns_known()) {
        vnfs.refused.insert(head);
      }
    }
  }
  return facts;
}

bool was_answered(const ClusterView& view, const records::MoveRecord& move) {
  const auto to = view.heads.find(move.to());
  return to != view.heads.end() && !to->second.record.incarnation().empty() &&
         to->second.record.incarnation() == move.ready_incarnation();
}

void set_pin(const records::VnfsRecord& vnfs, const std::string& pin, Change& change) {
  if (vnfs.pinned() == pin) return;
  records::VnfsRecord record = vnfs;
  record.set_pinned(pin);
  change.txn.success.push_back(kv::put(kv::keys::kVnfs + vnfs.name(), record.SerializeAsString()));
}

void take_back(const ClusterView& view, const std::string& vnfs, Change& change) {
  const auto& move = view.moves.at(vnfs);
  change.txn.compares.push_back(kv::mod_revision_is(kv::keys::kMoves + vnfs, move.mod_revision));
  change.txn.success.push_back(kv::erase(kv::keys::kMoves + vnfs));
  set_pin(view.vnfses.at(vnfs).record, move.record.pinned_before(), change);
}

}  // namespace symnas::vnfsd
