// What is so, and what has happened.
#include <nlohmann/json.hpp>

#include "vnfsd/api/documents.h"
#include "vnfsd/api/openapi.h"
#include "vnfsd/api/placement.h"
#include "vnfsd/api/routes.h"
#include "vnfsd/api/vnfs_sight.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

// A VNFS of status, with its instance if something is known of that. `here`: as for
// sight_of_instance().
json with_instance(const ClusterView& view, json vnfs, const json& here) {
  const json instance = sight_of_instance(view, here, vnfs["name"].get<std::string>());
  vnfs["state"] = state_word(vnfs, instance);
  if (!instance.empty()) vnfs["instance"] = instance;
  return vnfs;
}

Result<json> status(const Call& call) {
  json document = call.backends.status.local_status();
  document["certificates"] = call.access.ending();
  auto view = call.backends.records.view();
  json vnfses = json::array();
  if (!view) {
    // A head without etcd still says what it sees itself.
    document["error"] = view.error().message;
    for (const auto& [name, instance] : document["instances"].items())
      vnfses.push_back({{"name", name}, {"state", instance["state"]}, {"instance", instance}});
  } else {
    document["cluster"] = cluster_document(*view);
    document["heads"] = heads_document(*view);
    document["told"] = told_states(call.backends.status, *view);
    for (json& vnfs : vnfs_document(*view))
      vnfses.push_back(with_instance(*view, std::move(vnfs), document));
    document.erase("told");
  }
  document["vnfs"] = vnfses;
  return document;
}

Result<json> capacity(const Call& call) { return call.backends.inspection.capacity(); }

Result<json> events(const Call& call) { return call.backends.status.events(call.request.after); }

Result<json> placement(const Call& call) {
  SYMNAS_ASSIGN(const ClusterView view, view_of_places(call.backends.records));
  return placement_document(view, sight_of(call.backends.status, view), now_ns());
}

Result<json> distribution(const Call& call) {
  SYMNAS_ASSIGN(const ClusterView view, view_of_places(call.backends.records));
  return distribution_document(view, now_ns());
}

Result<json> openapi(const Call&) { return openapi_document(); }

}  // namespace

std::vector<Route> status_routes() {
  return {
      {"GET", "/v1/status", "getStatus", Role::kViewer, "", "Status", "",
       "What this head sees, and the cluster's records as far as etcd answers.", status},
      {"GET", "/v1/capacity", "getCapacity", Role::kViewer, "", "Capacity", "",
       "How full etcd and the filesystems are. Reads all records: seconds to minutes.", capacity},
      {"GET", "/v1/placement", "getPlacement", Role::kViewer, "", "Placement", "",
       "Where each VNFS is and may be.", placement},
      {"GET", "/v1/distribution", "getDistribution", Role::kViewer, "", "Distribution", "",
       "The moves that would bring every VNFS to the head that is meant for it.", distribution},
      {"GET", "/v1/events", "listEvents", Role::kOperator, "", "Events", "after",
       "The events that were written after a revision of etcd, in order.", events},
      {"GET", "/v1/events/stream", "followEvents", Role::kOperator, "", "Events", "after",
       "The same as they come, as server-sent events; Last-Event-ID says where to go on.", events},
      {"GET", "/v1/openapi.json", "getOpenApi", Role::kViewer, "", "OpenApi", "", "This document.",
       openapi},
  };
}

}  // namespace symnas::vnfsd::api
