#include "vnfsd/records/states.h"

#include <algorithm>
#include <utility>

#include "common/kv/state_keys.h"

namespace symnas::vnfsd {

Result<ToldStates> read_states(kv::Store& store, std::int64_t deadline_ms) {
  SYMNAS_ASSIGN(const kv::OpResult read,
                kv::range_blocking(store, kv::prefix_range(kv::keys::kHeadStates), 0, deadline_ms));
  ToldStates out;
  for (const kv::KeyValue& kv : read.kvs) {
    records::HeadStates told;
    if (!told.ParseFromString(kv.value)) continue;
    out[kv.key.substr(kv::keys::kHeadStates.size())] = std::move(told);
  }
  return out;
}

bool is_of_present_agent(const records::HeadStates& told, const ClusterView& view) {
  const auto head = view.heads.find(told.head());
  return head != view.heads.end() && head->second.record.incarnation() == told.incarnation() &&
         head->second.record.agent_started_ns() == told.agent_started_ns();
}

const records::ToldInstance* instance_of(const records::HeadStates& told, const std::string& vnfs) {
  const auto& all = told.instances();
  const auto found = std::ranges::find_if(
      all, [&](const records::ToldInstance& one) { return one.vnfs() == vnfs; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace symnas::vnfsd
