#include "ha/policy/planner.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace symnas::ha {
namespace {

using Heads = std::vector<std::string>;

class Planner {
 public:
  explicit Planner(const Facts& facts) : facts_(facts), share_(share()) {}

  std::map<std::string, Assignment> plan() {
    // VNFSs that already have an assignment are counted first; then the others get one.
    Heads homeless;
    for (const auto& [name, vnfs] : facts_.vnfses) {
      if (const auto assignment = assignment_now(vnfs)) {
        take(name, *assignment);
      } else {
        homeless.push_back(name);
      }
    }
    for (const std::string& name : homeless) take(name, find_home(facts_.vnfses.at(name)));
    while (fail_one_back()) {
    }
    return std::move(assignments_);
  }

  std::map<std::string, Assignment> distribute() {
    Heads left = free_those_that_may_move();
    for (std::size_t rank = 0; rank < most_heads(); ++rank) {
      // A VNFS whose owner already is that head has the first claim: no two VNFSs swap heads for
      // nothing.
      left = give_rank(left, rank, Claim::kWhoIsThere);
      left = give_rank(left, rank, Claim::kAnybody);
    }
    for (const std::string& name : left) {
      take(name, {least_evil(facts_.vnfses.at(name)), Reason::kDistributed});
    }
    std::erase_if(assignments_, [&](const auto& entry) {
      return entry.second.reason != Reason::kDistributed ||
             entry.second.head == facts_.vnfses.at(entry.first).owner;
    });
    return std::move(assignments_);
  }

 private:
  enum class Claim { kWhoIsThere, kAnybody };

  HeadState state_of(const std::string& head) const {
    const auto it = facts_.heads.find(head);
    return it == facts_.heads.end() ? HeadState::kLost : it->second;
  }

  std::optional<Assignment> assignment_now(const VnfsFacts& vnfs) const {
    if (vnfs.stopped) return Assignment{"", Reason::kStopped};
    if (!vnfs.target.empty() && state_of(vnfs.target) == HeadState::kServing) {
      return Assignment{vnfs.target, Reason::kOrdered};
    }
    if (facts_.decided) return decided(vnfs);
    if (vnfs.owner.empty()) return std::nullopt;
    if (state_of(vnfs.owner) == HeadState::kServing) {
      if (vnfs.ailing && !takers_of(vnfs).empty()) return std::nullopt;
      return Assignment{vnfs.owner, Reason::kStays};
    }
    if (state_of(vnfs.owner) == HeadState::kLost) return Assignment{vnfs.owner, Reason::kHeld};
    return std::nullopt;
  }

  Assignment decided(const VnfsFacts& vnfs) const {
    const bool held = !vnfs.owner.empty() && state_of(vnfs.owner) == HeadState::kLost;
    if (held) return {vnfs.owner, Reason::kHeld};
    if (vnfs.decided.empty()) return {"", Reason::kLeft};
    if (!vnfs.owner.empty()) return {vnfs.owner, Reason::kStays};
    if (state_of(vnfs.decided) == HeadState::kLost) return {"", Reason::kNowhere};
    return {vnfs.decided, Reason::kDecided};
  }

  enum class Sight { kAllLuns, kAnyLuns };

  Heads heads_in(const VnfsFacts& vnfs, HeadState state, Sight sight) const {
    Heads found;
    for (const std::string& head : vnfs.heads) {
      if (state_of(head) != state) continue;
      if (sight == Sight::kAllLuns && vnfs.blind.contains(head)) continue;
      found.push_back(head);
    }
    return found;
  }

  // The heads to which its owner may send the VNFS. A head on which it ails may keep it, but it is
  // not sent there.
  Heads takers_of(const VnfsFacts& vnfs) const {
    Heads takers = heads_in(vnfs, HeadState::kServing, Sight::kAllLuns);
    std::erase_if(takers, [&](const std::string& head) {
      return vnfs.refused.contains(head) || (vnfs.ailing && head == vnfs.owner);
    });
    return takers;
  }

  Assignment find_home(const VnfsFacts& vnfs) const {
    if (!vnfs.owner.empty()) {
      const Heads takers = takers_of(vnfs);
      // A drained head goes on serving when no other head can.
      if (takers.empty()) return {vnfs.owner, Reason::kStays};
      const bool drained = state_of(vnfs.owner) == HeadState::kDraining;
      return {choose(takers), drained ? Reason::kDrained : Reason::kAiling};
    }
    for (const Sight sight : {Sight::kAllLuns, Sight::kAnyLuns}) {
      for (const HeadState state : {HeadState::kServing, HeadState::kDraining}) {
        const Heads able = heads_in(vnfs, state, sight);
        if (able.empty()) continue;
        const std::string& chosen = choose(able);
        if (state == HeadState::kDraining) return {chosen, Reason::kForced};
        return {chosen, chosen == able.front() ? Reason::kFirst : Reason::kBalanced};
      }
    }
    return {"", Reason::kNowhere};
  }

  const std::string& choose(const Heads& able) const {
    const auto free = std::find_if(able.begin(), able.end(),
                                   [&](const std::string& head) { return load(head) < share_; });
    if (free != able.end()) return *free;
    return *std::min_element(able.begin(), able.end(),
                             [&](const auto& a, const auto& b) { return load(a) < load(b); });
  }

  // A VNFS whose owner serves goes only to a head that has settled; a VNFS that is assigned anew
  // anyhow goes to any head.
  bool may_fail_back(const VnfsFacts& vnfs, const Assignment& assignment) const {
    if (facts_.decided || vnfs.failback != Failback::kAuto || vnfs.pinned == assignment.head)
      return false;
    return assignment.reason == Reason::kStays || assignment.reason == Reason::kFailback ||
           assignment.reason == Reason::kBalanced || assignment.reason == Reason::kDrained;
  }

  // Moves one VNFS nearer to its primary. Each call brings one nearer, so the loop around it ends.
  bool fail_one_back() {
    for (const auto& [name, vnfs] : facts_.vnfses) {
      Assignment& assignment = assignments_.at(name);
      if (!may_fail_back(vnfs, assignment) || state_of(assignment.head) != HeadState::kServing)
        continue;
      const bool goes_on = state_of(vnfs.owner) == HeadState::kServing;
      for (const std::string& head : takers_of(vnfs)) {
        if (index_of(vnfs, head) >= index_of(vnfs, assignment.head)) break;
        if (load(head) >= share_) continue;
        if (goes_on && !facts_.settled.contains(head)) break;  // wait until it has settled
        --loads_[assignment.head];
        ++loads_[head];
        assignment.head = head;
        if (goes_on) assignment.reason = Reason::kFailback;
        return true;
      }
    }
    return false;
  }

  static std::size_t index_of(const VnfsFacts& vnfs, const std::string& head) {
    return static_cast<std::size_t>(std::find(vnfs.heads.begin(), vnfs.heads.end(), head) -
                                    vnfs.heads.begin());
  }

  // Frees the VNFSs that are served by an owner and may move. All others keep the assignments of
  // the plan.
  Heads free_those_that_may_move() {
    for (auto& [name, assignment] : Planner(facts_).plan()) take(name, assignment);
    Heads free;
    for (const auto& [name, vnfs] : facts_.vnfses) {
      if (facts_.decided || vnfs.stopped || state_of(vnfs.owner) != HeadState::kServing ||
          assignments_.at(name).reason == Reason::kOrdered || takers_of(vnfs).empty()) {
        continue;
      }
      --loads_[assignments_.at(name).head];
      assignments_.erase(name);
      free.push_back(name);
    }
    return free;
  }

  std::size_t most_heads() const {
    std::size_t most = 0;
    for (const auto& [name, vnfs] : facts_.vnfses) most = std::max(most, vnfs.heads.size());
    return most;
  }

  // Gives the VNFSs the head of that rank where there is room; returns those that did not get it.
  Heads give_rank(const Heads& names, std::size_t rank, Claim claim) {
    Heads left;
    for (const std::string& name : names) {
      const VnfsFacts& vnfs = facts_.vnfses.at(name);
      const Heads takers = takers_of(vnfs);
      const bool wants =
          rank < takers.size() && (claim == Claim::kAnybody || takers[rank] == vnfs.owner);
      if (wants && load(takers[rank]) < share_) {
        take(name, {takers[rank], Reason::kDistributed});
      } else {
        left.push_back(name);
      }
    }
    return left;
  }

  // For a VNFS whose heads all have their share: it stays where it is, if that is one of them; else
  // the head with the least load takes it.
  std::string least_evil(const VnfsFacts& vnfs) const {
    const Heads takers = takers_of(vnfs);
    if (std::find(takers.begin(), takers.end(), vnfs.owner) != takers.end()) return vnfs.owner;
    return *std::min_element(takers.begin(), takers.end(),
                             [&](const auto& x, const auto& y) { return load(x) < load(y); });
  }

  std::size_t share() const {
    std::size_t serving = 0;
    for (const auto& [name, state] : facts_.heads) serving += state == HeadState::kServing ? 1 : 0;
    std::size_t wanted = 0;
    for (const auto& [name, vnfs] : facts_.vnfses) wanted += vnfs.stopped ? 0 : 1;
    return serving == 0 ? wanted : (wanted + serving - 1) / serving;
  }

  std::size_t load(const std::string& head) const {
    const auto it = loads_.find(head);
    return it == loads_.end() ? 0 : it->second;
  }

  void take(const std::string& vnfs, Assignment assignment) {
    if (!assignment.head.empty()) ++loads_[assignment.head];
    assignments_.emplace(vnfs, std::move(assignment));
  }

  const Facts& facts_;
  const std::size_t share_;
  std::map<std::string, std::size_t> loads_;
  std::map<std::string, Assignment> assignments_;
};

}  // namespace

std::map<std::string, Assignment> plan(const Facts& facts) { return Planner(facts).plan(); }

std::map<std::string, Assignment> distribute(const Facts& facts) {
  Facts then = facts;
  // A move may make room on a head for a VNFS that had to stay above a share: repeat until nothing
  // moves.
  for (std::size_t round = 0; round <= facts.vnfses.size(); ++round) {
    const auto moves = Planner(then).distribute();
    if (moves.empty()) break;
    for (const auto& [name, assignment] : moves) then.vnfses.at(name).owner = assignment.head;
  }
  std::map<std::string, Assignment> moves;
  for (const auto& [name, vnfs] : then.vnfses) {
    if (vnfs.owner != facts.vnfses.at(name).owner)
      moves.emplace(name, Assignment{vnfs.owner, Reason::kDistributed});
  }
  return moves;
}

bool needs_order(Reason reason) {
  return reason == Reason::kDrained || reason == Reason::kAiling || reason == Reason::kFailback ||
         reason == Reason::kDistributed;
}

const char* name_of(Reason reason) {
  switch (reason) {
    case Reason::kStopped: return "stopped";
    case Reason::kOrdered: return "ordered";
    case Reason::kStays: return "stays";
    case Reason::kHeld: return "held";
    case Reason::kFirst: return "first";
    case Reason::kBalanced: return "balanced";
    case Reason::kForced: return "forced";
    case Reason::kDrained: return "drained";
    case Reason::kAiling: return "ailing";
    case Reason::kFailback: return "failback";
    case Reason::kDistributed: return "distributed";
    case Reason::kNowhere: return "nowhere";
    case Reason::kDecided: return "decided";
    case Reason::kLeft: return "left";
  }
  return "?";
}

}  // namespace symnas::ha
