// Who asks how much.
#include <nlohmann/json.hpp>

#include "vnfsd/api/routes.h"

namespace symnas::vnfsd::api {
namespace {

Result<nlohmann::json> load(const Call& call) { return call.backends.load.load(); }

}  // namespace

std::vector<Route> load_routes() {
  return {
      {"GET", "/v1/load", "getLoad", Role::kViewer, "", "Load", "",
       "What clients have asked of every VNFS within the last seconds, by client, export and "
       "operation.",
       load},
  };
}

}  // namespace symnas::vnfsd::api
