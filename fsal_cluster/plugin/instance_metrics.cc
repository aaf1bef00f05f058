#include "fsal_cluster/plugin/instance_metrics.h"

#include <nlohmann/json.hpp>

#include "common/base/instance_counters.h"

namespace symnas::plugin {

using nlohmann::json;

json instance_metrics() {
  const InstanceCounters& seen = instance_counters();
  json tries = json::array();
  for (const auto& count : seen.etcd_tries) tries.push_back(count.load());
  return {{"gate_closings", seen.gate_closings.load()},
          {"tokens_held", seen.tokens_held.load()},
          {"tokens_granted", seen.tokens_granted.load()},
          {"token_waits", seen.token_waits.load()},
          {"tokens_given_back", seen.tokens_given_back.load()},
          {"quota_refusals", seen.quota_refusals.load()},
          {"lock_ranges", seen.lock_ranges.load()},
          {"etcd_times_us", kEtcdTimesUs},
          {"etcd_tries", std::move(tries)},
          {"etcd_sum_us", seen.etcd_sum_us.load()},
          {"etcd_failures", seen.etcd_failures.load()}};
}

}  // namespace symnas::plugin
