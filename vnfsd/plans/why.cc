#include "vnfsd/plans/why.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/core.h>

#include "common/kv/keys.h"
#include "vnfsd/plans/placement.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd {
namespace {

using Verdict = Standing::Verdict;
using Standby = Standing::Standby;

// One question: that VNFS, that head.
class Question {
 public:
  Question(const ClusterView& view, const std::string& vnfs, const std::string& head,
           std::int64_t now_ns)
      : view_(view),
        name_(vnfs),
        vnfs_(view.vnfses.at(vnfs).record),
        head_(head),
        now_ns_(now_ns) {}

  Standing answer() {
    const auto owner = view_.owners.find(name_);
    if (owner != view_.owners.end()) out_.owner = owner->second.record.head();
    out_.rank = rank_of(head_);
    out_.standby = standby();
    out_.assignment = assignment();
    out_.plan = plan();
    out_.hindrances = hindrances_now();
    out_.verdict = verdict();
    if (out_.verdict == Verdict::kMay) out_.ways = ways();
    return std::move(out_);
  }

 private:
  int rank_of(const std::string& head) const {
    const auto found = std::ranges::find(vnfs_.heads(), head);
    return found == vnfs_.heads().end() ? -1 : static_cast<int>(found - vnfs_.heads().begin());
  }

  // nullptr: it is not being moved.
  const records::MoveRecord* order() const {
    const auto move = view_.moves.find(name_);
    return move == view_.moves.end() ? nullptr : &move->second.record;
  }

  bool is_owned_elsewhere() const { return !out_.owner.empty() && out_.owner != head_; }

  Standby standby() const {
    if (!is_owned_elsewhere()) return Standby::kNone;
    if (const auto* move = order(); move != nullptr && move->to() == head_) {
      if (was_answered(view_, *move)) return Standby::kReady;
      return move->refusal().empty() ? Standby::kStarting : Standby::kNone;
    }
    return falling_to(view_, head_).contains(name_) ? Standby::kStarting : Standby::kNone;
  }

  // A VNFS that nobody owns is claimed by the first facts, one with an owner is sent by the second.
  ha::Assignment assignment() const {
    if (out_.owner.empty()) return ha::plan(facts_of(view_)).at(name_);
    Observed observed;
    observed.now_ns = now_ns_;
    for (const auto& [head, record] : view_.heads) observed.settled.insert(head);
    return ha::plan(facts_of(view_, observed)).at(name_);
  }

  std::string plan() const {
    const std::string& to = out_.assignment.head;
    if (const auto* move = order();
        move != nullptr && to != move->to() && out_.assignment.reason != ha::Reason::kStopped) {
      return fmt::format("it goes to {} when that has answered the order{}{}", move->to(),
                         move->refusal().empty() ? "" : "; so far that says: ", move->refusal());
    }
    switch (out_.assignment.reason) {
      case ha::Reason::kStopped: return "nobody serves it: it is stopped";
      case ha::Reason::kOrdered: return fmt::format("it goes to {}, as ordered", to);
      case ha::Reason::kStays: return fmt::format("it stays with {}", to);
      case ha::Reason::kHeld: return fmt::format("it stays with {}, which is lost", to);
      case ha::Reason::kFirst: return fmt::format("{} takes it, the first that can", to);
      case ha::Reason::kBalanced:
        return fmt::format("{} takes it: earlier ones that can have their share", to);
      case ha::Reason::kForced:
        return fmt::format("{} takes it although it is being drained: no other can", to);
      case ha::Reason::kDrained:
        return fmt::format("it goes to {}: {} is being drained", to, out_.owner);
      case ha::Reason::kAiling:
        return fmt::format("it goes to {}: {} reaches its LUNs or networks badly", to, out_.owner);
      case ha::Reason::kFailback:
        return fmt::format("it fails back to {} as soon as that has settled", to);
      case ha::Reason::kDistributed: return fmt::format("it goes to {}", to);
      case ha::Reason::kNowhere: return "none of its heads can serve it";
      case ha::Reason::kDecided: return fmt::format("{} takes it, as the decider wants", to);
      case ha::Reason::kLeft: return "nobody serves it: the decider wants it nowhere";
    }
    return "?";
  }

  std::vector<Hindrance> hindrances_now() const {
    std::vector<Hindrance> found = own_hindrances(view_, vnfs_, head_, now_ns_);
    std::vector<Hindrance> of_vnfs = hindrances_to_move(view_, vnfs_, now_ns_);
    const auto* move = order();
    std::erase_if(of_vnfs, [&](const Hindrance& one) {
      return one.kind == Hindrance::Kind::kMoving && move->to() == head_;
    });
    std::ranges::move(of_vnfs, std::back_inserter(found));
    if (out_.assignment.reason == ha::Reason::kHeld) {
      found.push_back({Hindrance::Kind::kHeld,
                       fmt::format("{} is lost, and nobody may take it before the end of what runs "
                                   "there is proved",
                                   out_.owner),
                       fmt::format("symnas status; symnas head fence {} --yes", out_.owner)});
    }
    return found;
  }

  Verdict verdict() const {
    if (out_.owner == head_ && out_.assignment.reason != ha::Reason::kHeld) return Verdict::kRuns;
    if (const auto* move = order(); move != nullptr && move->to() == head_) return Verdict::kComing;
    if (out_.assignment.head == head_ && out_.owner != head_) return Verdict::kNext;
    const bool is_kept = std::ranges::any_of(
        out_.hindrances, [](const Hindrance& one) { return !keeps_only_owners(one.kind); });
    return is_kept ? Verdict::kMayNot : Verdict::kMay;
  }

  std::vector<Way> ways() const {
    std::vector<Way> found = {{Way::Kind::kRehost, "an order moves it there",
                               fmt::format("symnas vnfs rehost {} {}", name_, head_)}};
    if (is_goal_of_failback()) {
      found.push_back({Way::Kind::kFailback, "a failback moves it there",
                       fmt::format("symnas vnfs failback {}", name_)});
    }
    if (!is_owned_elsewhere()) return found;
    const bool is_earlier = rank_of(out_.owner) < 0 || out_.rank < rank_of(out_.owner);
    if (is_earlier && out_.hindrances.empty()) found.push_back(not_by_itself());
    found.push_back(takeover());
    return found;
  }

  // As the command would order it now.
  bool is_goal_of_failback() const {
    const auto change = plan_vnfs_failback(view_, name_, now_ns_);
    if (!change) return false;
    return std::ranges::any_of(change->txn.success, [&](const kv::Op& op) {
      records::MoveRecord move;
      return op.kind == kv::Op::Kind::kPut && op.range.key == kv::keys::kMoves + name_ &&
             move.ParseFromString(op.value) && move.to() == head_;
    });
  }

  // REQUIRES: nothing keeps it from going there, a later one of its heads owns it, and the planner
  // does not have it go there.
  Way not_by_itself() const {
    Way way{Way::Kind::kNotByItself, "", ""};
    if (out_.assignment.head != out_.owner) {
      way.what = fmt::format("by itself it goes to {}", out_.assignment.head);
    } else if (vnfs_.failback() != records::FAILBACK_AUTO) {
      way.what = "it does not fail back by itself";
      way.next = fmt::format("symnas vnfs set {} --failback auto", name_);
    } else if (vnfs_.pinned() == out_.owner) {
      way.what = fmt::format("it does not fail back by itself: an administrator moved it to {}",
                             out_.owner);
      way.next = fmt::format("symnas vnfs failback {} ends that", name_);
    } else {
      way.what = fmt::format("it does not fail back by itself: {} has its share of VNFSs", head_);
      way.next = "symnas vnfs distribute --dry-run";
    }
    return way;
  }

  // If its owner is lost now.
  Way takeover() const {
    ClusterView then = view_;
    const auto owner = then.heads.find(out_.owner);
    if (owner != then.heads.end()) owner->second.record.clear_incarnation();
    std::erase_if(then.owners,
                  [&](const auto& one) { return one.second.record.head() == out_.owner; });
    const std::string heir = ha::plan(facts_of(then)).at(name_).head;
    return {Way::Kind::kTakeover,
            heir == head_  ? fmt::format("if {} is lost, it goes there", out_.owner)
            : heir.empty() ? fmt::format("if {} is lost, nobody takes it", out_.owner)
                           : fmt::format("if {} is lost, it goes to {}", out_.owner, heir),
            ""};
  }

  const ClusterView& view_;
  const std::string& name_;
  const records::VnfsRecord& vnfs_;
  const std::string& head_;
  const std::int64_t now_ns_;
  Standing out_;
};

}  // namespace

Standing standing_of(const ClusterView& view, const std::string& vnfs, const std::string& head,
                     std::int64_t now_ns) {
  return Question(view, vnfs, head, now_ns).answer();
}

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRuns: return "runs";
    case Verdict::kComing: return "coming";
    case Verdict::kNext: return "next";
    case Verdict::kMay: return "may";
    case Verdict::kMayNot: return "may_not";
  }
  return "?";
}

const char* name_of(Standby standby) {
  switch (standby) {
    case Standby::kNone: return "none";
    case Standby::kStarting: return "starting";
    case Standby::kReady: return "ready";
  }
  return "?";
}

const char* name_of(Way::Kind kind) {
  switch (kind) {
    case Way::Kind::kRehost: return "rehost";
    case Way::Kind::kFailback: return "failback";
    case Way::Kind::kNotByItself: return "not_by_itself";
    case Way::Kind::kTakeover: return "takeover";
  }
  return "?";
}

}  // namespace symnas::vnfsd
