#include "vnfsd/api/placement.h"

#include <set>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "vnfsd/api/documents.h"
#include "vnfsd/api/vnfs_sight.h"
#include "vnfsd/plans/exports.h"
#include "vnfsd/plans/placement.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

Story story_of_owned(const ClusterView& view, const std::string& name, const json& here,
                     const std::string& owner, std::int64_t now_ns) {
  const json instance = sight_of_instance(view, here, name);
  const std::string heard = when_heard(instance);
  if (const auto* fence = fence_of(view, owner); fence != nullptr) {
    if (fence->state() == records::FENCE_FAILED) {
      return {"held", fmt::format("{} could not be fenced and may be serving it: {} (symnas head "
                                  "fence {} --yes)",
                                  owner, fence->error(), owner)};
    }
    return {"held", fmt::format("{} is lost, and its end is not proved yet (symnas status){}{}",
                                owner, heard.empty() ? "" : "; ", heard)};
  }
  Story story{"serving", ""};
  if (!instance.empty()) story = {instance.value("state", "?"), instance.value("error", "")};
  if (!heard.empty()) story = {"unheard", fmt::format("{} is not heard: {}", owner, heard)};
  for (const json& head : here.value("silent", json::array())) {
    if (head.value("head", "") == owner)
      story = {"unheard", fmt::format("{} is not heard: {}{}{}", owner, head.value("why", ""),
                                      heard.empty() ? "" : "; ", heard)};
  }
  if (state_of_head(view, owner) == "draining" && story.why.empty()) {
    story.why = fmt::format("{}", fmt::join(reasons_to_stay(view, name, now_ns), "; "));
  }
  return story;
}

// "P", "1", "2", ... of each of its heads, "*" before the one that has it.
json places_of(const records::VnfsRecord& vnfs, const std::string& owner) {
  json places = json::object();
  for (int i = 0; i < vnfs.heads_size(); ++i) {
    places[vnfs.heads(i)] = i == 0 ? "P" : fmt::to_string(i);
  }
  if (!owner.empty()) places[owner] = "*" + places.value(owner, "");
  return places;
}

}  // namespace

Story story_of(const ClusterView& view, const std::string& name, const json& here,
               std::int64_t now_ns) {
  const auto owner = view.owners.find(name);
  if (view.vnfses.at(name).record.stopped()) {
    return {owner == view.owners.end() ? "stopped" : "stopping", ""};
  }
  const auto move = view.moves.find(name);
  if (move != view.moves.end()) {
    return {"moving to " + move->second.record.to(), move->second.record.refusal()};
  }
  if (owner != view.owners.end())
    return story_of_owned(view, name, here, owner->second.record.head(), now_ns);
  const ha::Assignment assignment = ha::plan(facts_of(view)).at(name);
  if (assignment.head.empty()) return {"waiting", "none of its heads can serve"};
  const json trial = sight_of_instance(view, here, name);
  if (const std::string error = trial.value("error", ""); !error.empty())
    return {"waiting", fmt::format("{} is to serve it, but: {}", assignment.head, error)};
  return {"waiting", fmt::format("{} is to serve it", assignment.head)};
}

json placement_document(const ClusterView& view, const json& here, std::int64_t now_ns) {
  std::set<std::string> heads;
  for (const auto& [name, head] : view.heads) heads.insert(name);
  json rows = json::array();
  for (const auto& [name, vnfs] : view.vnfses) {
    const auto stored = view.owners.find(name);
    const std::string owner = stored == view.owners.end() ? "" : stored->second.record.head();
    const Story story = story_of(view, name, here, now_ns);
    rows.push_back({{"name", name},
                    {"state", story.state},
                    {"why", story.why},
                    {"owner", owner},
                    {"failback", failback_word(vnfs.record.failback())},
                    {"pinned", vnfs.record.pinned()},
                    {"exports_problem", exports_problem(view, name)},
                    {"places", places_of(vnfs.record, owner)}});
    heads.insert(vnfs.record.heads().begin(), vnfs.record.heads().end());
    if (!owner.empty()) heads.insert(owner);
  }
  json columns = json::array();
  for (const std::string& head : heads)
    columns.push_back({{"name", head}, {"state", state_of_head(view, head)}});
  return {{"heads", columns}, {"vnfs", rows}};
}

json distribution_document(const ClusterView& view, std::int64_t now_ns) {
  json moves = json::array();
  for (const auto& [name, assignment] : ha::distribute(facts_of(view, Observed{{}, now_ns}))) {
    moves.push_back(
        {{"vnfs", name}, {"from", view.owners.at(name).record.head()}, {"to", assignment.head}});
  }
  return {{"moves", moves}};
}

}  // namespace symnas::vnfsd::api
