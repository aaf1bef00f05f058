// Router: from a request (method, path, body) by the table of routes (routes.h) to the backends and
// back to JSON. No sockets, so that tests drive it. Thread-safe if the backends are.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "vnfsd/api/access.h"
#include "vnfsd/api/backends.h"
#include "vnfsd/api/request.h"

namespace symnas::vnfsd {
class Jobs;
}

namespace symnas::vnfsd::api {

class Router {
 public:
  // `jobs`: runs what is asked for with ?async=true; nullptr: nothing is.
  Router(const Backends& backends, AccessBackend& access, Jobs* jobs = nullptr)
      : backends_(backends), access_(access), jobs_(jobs) {}

  // Also notes in the audit log what was changed or refused. Errors: kNotSupported (no such
  // request), kPermission (it is not for the caller's role), kInvalidArgument (body), and the
  // backends'.
  Result<nlohmann::json> handle(const ApiRequest& request);

 private:
  Result<nlohmann::json> answer(const ApiRequest& request);

  const Backends backends_;
  AccessBackend& access_;
  Jobs* const jobs_;
};

}  // namespace symnas::vnfsd::api
