// ApiRequest: a request as the router takes it. A value type.
#pragma once

#include <map>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "vnfsd/api/caller.h"
#include "vnfsd/api/requests.h"
#include "vnfsd/names/mode.h"

namespace symnas::vnfsd::api {

struct ApiRequest {
  std::string method;  // GET, POST, DELETE
  std::string path;    // "/v1/volumes/v1/grow"
  std::string body;
  Mode mode = Mode::kCommit;                      // ?dry_run=true
  Consent consent = Consent::kNo;                 // ?yes=true
  Revision after = {};                            // ?after=: of events
  std::map<std::string, std::string> query = {};  // all parameters
  Caller caller = {};
  Credential credential = {};  // the caller's; empty unless it comes over the network

  // ?async=true: the reply is the job that was begun.
  bool is_for_a_job() const {
    const auto async = query.find("async");
    return async != query.end() && async->second == "true";
  }
};

// Reads the parameters; the caller is still nobody. Errors: kInvalidArgument (one has no such
// value, or is given twice).
Result<ApiRequest> request_of(std::string method, std::string path, std::string body,
                              const std::multimap<std::string, std::string>& parameters);

}  // namespace symnas::vnfsd::api
