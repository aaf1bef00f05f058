#include "vnfsd/daemon/moves/settling.h"

#include <utility>

#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {

std::set<std::string> SettleWatch::look(std::int64_t now_ms, const ClusterView& view,
                                        std::int64_t settle_ms) {
  std::map<std::string, Seen> seen;
  std::set<std::string> settled;
  for (const auto& [name, head] : view.heads) {
    const records::HeadRecord& record = head.record;
    if (record.incarnation().empty() || !record.luns_known() || record.draining() ||
        is_fenced(view, record)) {
      continue;
    }
    records::HeadRecord state;
    state.set_incarnation(record.incarnation());
    state.set_agent_started_ns(record.agent_started_ns());
    *state.mutable_luns() = record.luns();
    *state.mutable_ill_networks() = record.ill_networks();
    const auto before = seen_.find(name);
    Seen now{state.SerializeAsString(), now_ms};
    if (before != seen_.end() && before->second.state == now.state) {
      now.since_ms = before->second.since_ms;
    }
    if (now_ms - now.since_ms >= settle_ms) settled.insert(name);
    seen.emplace(name, std::move(now));
  }
  seen_ = std::move(seen);
  return settled;
}

}  // namespace symnas::vnfsd::daemon
