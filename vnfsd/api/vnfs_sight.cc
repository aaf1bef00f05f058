#include "vnfsd/api/vnfs_sight.h"

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/api/documents.h"
#include "vnfsd/records/instance_standing.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

// Texts of records may hold bytes that are no text.
std::string text_of(const std::string& bytes) {
  const json text = json(bytes);
  return json::parse(text.dump(-1, ' ', false, json::error_handler_t::replace));
}

json instance_document(const records::HeadStates& told, const records::ToldInstance& one) {
  return {{"head", told.head()},           {"told_ns", told.told_ns()},
          {"state", one.state()},          {"phase", one.phase()},
          {"epoch", one.epoch()},          {"since_ns", one.since_ns()},
          {"restarts", one.restarts()},    {"last_exit", text_of(one.last_exit())},
          {"error", text_of(one.error())}, {"vips_taken", text_of(one.vips_taken())}};
}

// When the head was heard last, if it is not heard now; 0: it is, as far as this head knows.
std::int64_t heard_ns_of(const ClusterView& view, const json& here, const std::string& head,
                         std::int64_t told_ns) {
  for (const json& one : here.value("unheard", json::array()))
    if (one.value("head", "") == head) return one.value("heard_ns", told_ns);
  const records::FenceRecord* fence = fence_of(view, head);
  if (fence == nullptr) return 0;
  return fence->began_ns() != 0 ? fence->began_ns() : told_ns;
}

json sight_of_owned(const ClusterView& view, const json& here, const std::string& vnfs,
                    const records::OwnerRecord& owner) {
  const json told = here.value("told", json::object());
  const auto of_head = told.find(owner.head());
  if (of_head == told.end()) return json::object();
  json instance = of_head->value(vnfs, json::object());
  if (instance.value("epoch", std::uint64_t{0}) != owner.epoch())
    instance = {{"head", owner.head()}, {"state", "starting"}, {"epoch", owner.epoch()}};
  const std::int64_t heard_ns =
      heard_ns_of(view, here, owner.head(), instance.value("told_ns", std::int64_t{0}));
  if (heard_ns != 0) instance["heard_ns"] = heard_ns;
  return instance;
}

// Somebody tries to serve it, in the order of its heads.
json sight_of_unowned(const ClusterView& view, const json& here, const std::string& vnfs) {
  const json told = here.value("told", json::object());
  for (const std::string& head : view.vnfses.at(vnfs).record.heads()) {
    const json instance = told.value(head, json::object()).value(vnfs, json::object());
    if (instance.empty() || heard_ns_of(view, here, head, 1) != 0) continue;
    const auto standing = standing_from(instance.value("state", ""));
    if (standing != InstanceStanding::kStopped && standing != InstanceStanding::kPrepared)
      return instance;
  }
  return json::object();
}

}  // namespace

json told_document(const ToldStates& told, const ClusterView& view) {
  json out = json::object();
  for (const auto& [head, states] : told) {
    if (!is_of_present_agent(states, view)) continue;
    json instances = json::object();
    for (const records::ToldInstance& one : states.instances())
      instances[one.vnfs()] = instance_document(states, one);
    out[head] = std::move(instances);
  }
  return out;
}

json told_states(StatusBackend& status, const ClusterView& view) {
  const auto states = status.told_states();
  return states ? told_document(*states, view) : json::object();
}

json sight_of(StatusBackend& status, const ClusterView& view) {
  json here = status.local_status();
  here["told"] = told_states(status, view);
  return here;
}

json sight_of_instance(const ClusterView& view, const json& here, const std::string& vnfs) {
  const auto owner = view.owners.find(vnfs);
  const bool elsewhere =
      owner != view.owners.end() && owner->second.record.head() != here.value("head", "");
  if (elsewhere) return sight_of_owned(view, here, vnfs, owner->second.record);
  const json instances = here.value("instances", json::object());
  if (const auto local = instances.find(vnfs); local != instances.end()) return *local;
  return owner == view.owners.end() ? sight_of_unowned(view, here, vnfs) : json::object();
}

std::string when_heard(const json& instance) {
  const std::int64_t heard_ns = instance.value("heard_ns", std::int64_t{0});
  if (heard_ns == 0) return "";
  return fmt::format("it was {} at {:%Y-%m-%d %H:%M:%S} UTC, when it was heard last",
                     instance.value("state", "?"),
                     fmt::gmtime(static_cast<std::time_t>(heard_ns / 1'000'000'000)));
}

std::string state_word(const json& vnfs, const json& instance) {
  if (!instance.empty())
    return instance.contains("heard_ns") ? "unheard" : instance.value("state", "?");
  if (!vnfs.value("owner", "").empty()) return "owned";
  return vnfs.value("wanted", "") == "stopped" ? "stopped" : "waiting";
}

}  // namespace symnas::vnfsd::api
