#include "vnfsd/api/why.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/api/placement.h"
#include "vnfsd/plans/why.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

std::string role_of(int rank) {
  if (rank < 0) return "none of its heads";
  return rank == 0 ? "primary" : fmt::format("backup {}", rank);
}

json reasons_of(const std::vector<Hindrance>& hindrances) {
  json out = json::array();
  for (const Hindrance& one : hindrances) {
    out.push_back({{"kind", name_of(one.kind)},
                   {"orders", keeps_only_owners(one.kind) ? "own" : "all"},
                   {"why", one.why},
                   {"next", one.next}});
  }
  return out;
}

json ways_of(const std::vector<Way>& ways) {
  json out = json::array();
  for (const Way& way : ways)
    out.push_back({{"kind", name_of(way.kind)}, {"what", way.what}, {"next", way.next}});
  return out;
}

// A question that the planner does not ask: to it a head that is off and not fenced counts as one
// that serves.
json notes_of(const json& here, const std::string& head) {
  json notes = json::array();
  for (const json& silent : here.value("silent", json::array())) {
    if (silent.value("head", "") != head) continue;
    notes.push_back(fmt::format("{} does not hear it, so it may not answer: {} (symnas status)",
                                here.value("head", "this head"), silent.value("why", "")));
  }
  return notes;
}

}  // namespace

Result<json> why_document(const ClusterView& view, const json& here, const std::string& vnfs,
                          const std::string& head, std::int64_t now_ns) {
  SYMNAS_TRY(find(view.vnfses, "vnfs", vnfs));
  if (!view.removed.contains(head)) SYMNAS_TRY(find(view.heads, "head", head));
  const Standing standing = standing_of(view, vnfs, head, now_ns);
  const Story story = story_of(view, vnfs, here, now_ns);
  return json{{"vnfs", vnfs},
              {"head", head},
              {"verdict", name_of(standing.verdict)},
              {"role", role_of(standing.rank)},
              {"standby", name_of(standing.standby)},
              {"owner", standing.owner},
              {"state", story.state},
              {"why", story.why},
              {"planned",
               {{"head", standing.assignment.head},
                {"reason", ha::name_of(standing.assignment.reason)},
                {"text", standing.plan}}},
              {"reasons", reasons_of(standing.hindrances)},
              {"ways", ways_of(standing.ways)},
              {"notes", notes_of(here, head)}};
}

}  // namespace symnas::vnfsd::api
