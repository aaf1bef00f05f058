// How errors and codes look on the wire of the API: {"error": {"code": "not_found", "message":
// "..."}}. Thread-safe: pure functions.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"

namespace symnas::vnfsd::api {

nlohmann::json error_to_json(const Error& error);
// kInternal when the document is no error document.
Error error_from_json(const nlohmann::json& document);
// The status code of RFC 9110 that fits the error code: 200 to 599.
int http_status(ErrorCode code);

}  // namespace symnas::vnfsd::api
