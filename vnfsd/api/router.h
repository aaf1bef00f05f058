// Router: from a request (method, path, body) to the backends and back to JSON. No sockets, so that
// tests drive it. Thread-safe if the backends are. Paths and documents: docs/operations/api.md.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "vnfsd/api/backends.h"

namespace symnas::vnfsd::api {

struct ApiRequest {
  std::string method;  // GET, POST, DELETE
  std::string path;    // "/v1/volumes/v1/grow"
  std::string body;
  Mode mode = Mode::kCommit;
  Consent consent = Consent::kNo;                 // ?yes=true
  Revision after = {};                            // ?after=: of events
  std::map<std::string, std::string> query = {};  // the other parameters
};

class Router {
 public:
  explicit Router(const Backends& backends) : backends_(backends) {}

  // Errors: kNotFound (no such path), kInvalidArgument (body), and the backends'.
  Result<nlohmann::json> handle(const ApiRequest& request);
  // Numbers for Prometheus (text exposition format 0.0.4).
  std::string metrics();

 private:
  Result<nlohmann::json> list(const std::string& collection);
  Result<nlohmann::json> create(const std::string& collection, const nlohmann::json& body,
                                Mode mode);
  Result<nlohmann::json> remove(const std::string& collection, const std::string& name,
                                const ApiRequest& request);
  Result<nlohmann::json> act(const std::string& collection, const std::string& name,
                             const std::string& action, const nlohmann::json& body,
                             const ApiRequest& request);
  Result<nlohmann::json> act_on_export(const std::string& name, const std::string& action,
                                       const nlohmann::json& body, const ApiRequest& request);
  Result<nlohmann::json> act_on_vnfs(const std::string& name, const std::string& action,
                                     const nlohmann::json& body, Mode mode);
  // Answers the collections that say where VNFSs are or might go. Errors: also those of etcd,
  // without which no VNFS can move.
  Result<nlohmann::json> look_at_places(const std::string& collection);
  Result<nlohmann::json> explain(const std::string& vnfs, const std::string& head);
  // The view for look_at_places() and explain().
  Result<ClusterView> view_of_places();
  Result<nlohmann::json> act_on_locks(const ApiRequest& request);
  Result<nlohmann::json> import_luns(const nlohmann::json& body, Mode mode);
  Result<nlohmann::json> status();

  const Backends backends_;
};

}  // namespace symnas::vnfsd::api
