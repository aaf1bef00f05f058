// ReplyCheck: compares documents with the schemas of the API's OpenAPI document, in which nothing
// unknown is valid here.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace symnas::vnfsd::api {

// Why the document is not of that schema, a line each; "": it is.
std::string why_invalid(const std::string& schema, const nlohmann::json& document);

}  // namespace symnas::vnfsd::api
