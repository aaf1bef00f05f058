#include "vnfsd/daemon/admin/status_admin.h"

#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "vnfsd/daemon/detection/limits.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/records/events.h"

namespace symnas::vnfsd::daemon {

using nlohmann::json;

namespace {

json corosync_document(const ha::CorosyncSight& sight) {
  json heads = json::array();
  for (const auto& [name, head] : sight.heads)
    heads.push_back({{"head", name}, {"state", ha::to_string(head.state)}});
  return {{"error", sight.error},
          {"quorate", sight.quorate},
          {"heads", std::move(heads)},
          {"no_node", sight.no_node},
          {"strangers", sight.strangers}};
}

}  // namespace

json StatusAdmin::local_status() {
  json document = {{"head", parts_.head.config.head_name}, {"instances", instances()}};
  document["etcd"] = etcd();
  document["quota"] = {{"level", kv::name_of(parts_.quota.level())},
                       {"quota_bytes", parts_.quota.quota_bytes()},
                       {"in_use_permille", parts_.quota.in_use_permille()}};
  document["luns"] = luns();
  document["networks"] = networks();
  document["failover"] = {{"error", parts_.means.why_no_failover()}};
  if (const Reservations* reservations = parts_.luns.registrations().reservations())
    document["reservations"] = {{"error", reservations->error()}};
  document["fence_agent"] = {{"error", parts_.upkeep.fence_agent_error()}};
  document["silent"] = json::array();
  for (const auto& [head, why] : parts_.heads.silent()) {
    if (!why.empty()) document["silent"].push_back({{"head", head}, {"why", why}});
  }
  document["unheard"] = json::array();
  for (const auto& [head, heard_ns] : parts_.heads.last_heard_ns())
    document["unheard"].push_back({{"head", head}, {"heard_ns", heard_ns}});
  if (const auto corosync = parts_.heads.corosync().sight())
    document["corosync"] = corosync_document(*corosync);
  document["clocks"] = json::array();
  if (const auto clocks = parts_.heads.clocks()) {
    const auto add = [&](const std::string& head, std::int64_t ahead_ns) {
      document["clocks"].push_back({{"head", head},
                                    {"ahead_ms", ahead_ns / 1'000'000},
                                    {"off", std::abs(ahead_ns) > kClockOffNs}});
    };
    add(parts_.head.config.head_name, clocks->own_ahead_ns);
    for (const auto& [head, ahead_ns] : clocks->ahead_ns) add(head, ahead_ns);
  }
  document["stalls"] = parts_.stalls.stalls();
  document["arrivals"] = arrivals();
  return document;
}

json StatusAdmin::etcd() const {
  json members = json::array();
  for (const kv::MemberStatus& member : parts_.head.store.status({})) {
    members.push_back({{"endpoint", member.endpoint},
                       {"reachable", member.reachable},
                       {"leader", member.leader},
                       {"no_space", member.no_space_alarm},
                       {"db_size_bytes", member.db_size_bytes},
                       {"db_in_use_bytes", member.db_in_use_bytes},
                       {"revision", member.revision.value()},
                       {"error", member.error}});
  }
  return members;
}

json StatusAdmin::luns() const {
  std::map<std::string, std::string> ill;  // by name
  const auto ill_uuids = parts_.luns.canaries().ill();
  for (const instance::LunPath& lun : parts_.luns.open_luns().paths()) {
    const auto found = ill_uuids.find(lun.uuid);
    if (found != ill_uuids.end()) ill[lun.name] = found->second;
  }
  json out = json::array();
  for (const LunSight& lun : parts_.luns.open_luns().sights()) {
    const auto found = ill.find(lun.name);
    const std::string& error = lun.error.empty() && found != ill.end() ? found->second : lun.error;
    out.push_back({{"name", lun.name}, {"path", lun.path}, {"error", error}});
  }
  return out;
}

json StatusAdmin::networks() const {
  json out = json::array();
  const auto ill = parts_.heads.networks().ill();
  for (const auto& [name, device] : parts_.heads.networks().devices()) {
    const auto why = ill.find(name);
    out.push_back(
        {{"name", name}, {"device", device}, {"error", why == ill.end() ? "" : why->second}});
  }
  return out;
}

json StatusAdmin::instances() const {
  json out = json::object();
  for (const auto& [name, s] : parts_.instances.snapshots()) {
    out[name] = {{"state", name_of(s.standing())},
                 {"phase", instance::name_of(s.phase)},
                 {"pid", s.pid},
                 {"epoch", s.epoch},
                 {"since_ns", s.since_ns},
                 {"restarts", s.restarts},
                 {"last_exit", s.last_exit},
                 {"error", s.error},
                 {"vips_taken", s.vips_taken}};
  }
  return out;
}

json StatusAdmin::arrivals() const {
  json out = json::array();
  for (const auto& [name, causes] : parts_.history.arrivals()) {
    for (const auto& [cause, seen] : causes) {
      out.push_back({{"vnfs", name},
                     {"cause", cause},
                     {"count", seen.count},
                     {"timed", seen.timed},
                     {"blackout_ms", seen.blackout_ms}});
    }
  }
  return out;
}

Result<ToldStates> StatusAdmin::told_states() {
  return read_states(parts_.head.store, kStoreDeadlineMs);
}

Result<nlohmann::json> StatusAdmin::events(Revision after) {
  SYMNAS_TRY(parts_.reader.wait_ready());
  SYMNAS_ASSIGN(const EventPage page, read_events(parts_.head.store, after, kStoreDeadlineMs));
  return events_document(page);
}

}  // namespace symnas::vnfsd::daemon
