#include "vnfsd/plans/wanted.h"

#include "ha/policy/planner.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd {
namespace {

bool is_lost(const ha::Facts& facts, const std::string& head) {
  const auto known = facts.heads.find(head);
  return known == facts.heads.end() || known->second == ha::HeadState::kLost;
}

}  // namespace

bool is_lost(const ClusterView& view, const std::string& head) {
  return is_lost(facts_of(view), head);
}

std::map<std::string, Wanted> wanted_on(const ClusterView& view, const std::string& head,
                                        const std::set<std::string>& coming_here) {
  std::map<std::string, Wanted> wanted;
  const ha::Facts facts = facts_of(view);
  const bool lost = is_lost(facts, head);
  for (const auto& [name, assignment] : ha::plan(facts)) {
    const auto owner = view.owners.find(name);
    const bool owned = owner != view.owners.end();
    const bool owned_here = owned && owner->second.record.head() == head;
    // This head serves a VNFS that it is to give up until the other head has answered the order.
    const bool wanted_here =
        owned ? owned_here && (assignment.head == head || ha::needs_order(assignment.reason))
              : assignment.head == head;
    if (wanted_here) {
      wanted[name] = Wanted::kStarted;
    } else if (owned && !owned_here && coming_here.contains(name) && !lost) {
      wanted[name] = Wanted::kPrepared;
    } else if (owned_here) {
      wanted[name] = Wanted::kStopped;
    }
  }
  return wanted;
}

}  // namespace symnas::vnfsd
