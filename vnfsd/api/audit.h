// What of a request gets into the audit log. Thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "vnfsd/api/access.h"
#include "vnfsd/api/request.h"

namespace symnas::vnfsd::api {

// Every request that is not a GET, and every one that the caller may not make, is recorded with its
// outcome: the lines of "done", or the error. Bodies are not.
void note_in_audit(AccessBackend& access, const ApiRequest& request,
                   const Result<nlohmann::json>& result);

}  // namespace symnas::vnfsd::api
