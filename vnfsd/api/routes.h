// Routes: every request that the API takes, a row each. The router, the roles and the OpenAPI
// document come from these rows and from nothing else. Thread-safe: constant once made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "vnfsd/api/access.h"
#include "vnfsd/api/backends.h"
#include "vnfsd/api/request.h"
#include "vnfsd/api/role.h"
#include "vnfsd/jobs/progress.h"

namespace symnas::vnfsd {
class Jobs;
}

namespace symnas::vnfsd::api {

// What a handler is called with.
struct Call {
  const Backends& backends;
  AccessBackend& access;
  const ApiRequest& request;
  const std::vector<std::string>& names;  // what stands for the {names} of the path, in order
  const nlohmann::json& body;             // an object; empty unless the route has a body
  Progress& progress;                     // of long work
  Jobs* jobs;                             // nullptr: there are none
  const std::string& name() const { return names.at(0); }
};

// Errors: kInvalidArgument (body or parameters), and the backends'.
using Handler = Result<nlohmann::json> (*)(const Call& call);

struct Route {
  std::string_view method;     // GET, POST, DELETE
  std::string_view path;       // "/v1/volumes/{name}/grow"
  std::string_view operation;  // its name in the document, unlike any other
  Role role = Role::kAdmin;    // the least that the caller must have
  std::string_view body;       // name of the schema of the body; "" = it has none
  std::string_view reply;      // name of the schema of the reply
  // Names of the parameters it takes, separated by blanks. One that takes "async" is long work,
  // whose handler tells its progress.
  std::string_view query;
  std::string_view summary;  // one sentence
  Handler handler = nullptr;
};

// All routes, in the order of the document.
const std::vector<Route>& all_routes();

struct Match {
  const Route* route = nullptr;    // nullptr: there is no such request
  std::vector<std::string> names;  // as in Call
};
Match find_route(std::string_view method, const std::string& path);

// Its replies are a stream (event_feed.h); through the router it answers as /v1/events.
inline constexpr std::string_view kEventStreamPath = "/v1/events/stream";

// The methods that the path takes: "GET, POST"; "" = none.
std::string methods_of(const std::string& path);

// The parts of the table, a file each.
std::vector<Route> status_routes();
std::vector<Route> head_routes();
std::vector<Route> storage_routes();
std::vector<Route> quota_routes();
std::vector<Route> export_routes();
std::vector<Route> vnfs_routes();
std::vector<Route> load_routes();
std::vector<Route> access_routes();
std::vector<Route> job_routes();

// The reply of a change: {"done": [lines]}.
Result<nlohmann::json> done(Result<std::string> what);
// A change that touches only records, as RecordsBackend::change().
Result<nlohmann::json> change_records(const Call& call, const Planner& planner);
// The view for documents that say where VNFSs are or might go. Errors: those of etcd, without which
// no VNFS can move.
Result<ClusterView> view_of_places(RecordsBackend& records);
// For what gives out secrets that open the cluster. Errors: kPermission (over the network).
Status check_local(const ApiRequest& request);
// For plans: wall clock, ns since 1970.
std::int64_t now_ns();

}  // namespace symnas::vnfsd::api
