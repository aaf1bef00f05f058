#include "vnfsd/daemon/fencing/fence_watch.h"

#include <algorithm>

#include "vnfsd/daemon/fencing/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

bool may_stand_still(const ClusterView& view, const std::string& head,
                     const records::FenceRecord& fence) {
  const bool is_open =
      fence.state() == records::FENCE_RUNNING || fence.state() == records::FENCE_PROVEN;
  const auto victim = view.heads.find(head);
  return is_open && victim != view.heads.end() &&
         victim->second.record.incarnation() == fence.incarnation();
}

}  // namespace

std::vector<AbandonedFence> FenceWatch::look(std::int64_t now_ms, const ClusterView& view,
                                             const std::string& self, UnderWay under_way,
                                             std::int64_t timeout_s,
                                             const std::set<std::string>& heard) {
  std::map<std::string, std::pair<Revision, std::int64_t>> seen;
  std::vector<AbandonedFence> abandoned;
  for (const auto& [head, stored] : view.fences) {
    const records::FenceRecord& fence = stored.record;
    if (head == self || !may_stand_still(view, head, fence)) continue;
    const auto known = seen_.find(head);
    const bool same = known != seen_.end() && known->second.first == stored.mod_revision;
    const std::int64_t since_ms = same ? known->second.second : now_ms;
    seen[head] = {stored.mod_revision, since_ms};
    const bool own = fence.by() == self;
    if (own && under_way == UnderWay::kOne) continue;
    const std::int64_t span_ms =
        own ? 0 : fence_span_ms(std::max(timeout_s, fence.agent_timeout_s()));
    if (now_ms - since_ms < span_ms) continue;
    const bool give_up = fence.state() == records::FENCE_RUNNING && fence.silent_since_ns() != 0 &&
                         heard.contains(head);
    abandoned.push_back(
        {head, stored.mod_revision,
         give_up ? AbandonedFence::Next::kGiveUp : AbandonedFence::Next::kTakeOver});
  }
  seen_ = std::move(seen);
  return abandoned;
}

}  // namespace symnas::vnfsd::daemon
