// The OpenAPI 3.1 document of the API, made of the table of routes and the schemas. Thread-safe.
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "vnfsd/api/schemas/schemas.h"

namespace symnas::vnfsd::api {

// `replies`: whether they may have members that their schema does not name; bodies never do.
// docs/operations/openapi.json is this document with open replies.
nlohmann::json openapi_document(Unknown replies = Unknown::kOpen);

// A query parameter that some route takes.
struct Parameter {
  std::string_view name;
  std::string_view type;  // as in schemas.h
  std::string_view description;
};
// nullptr: no route takes it.
const Parameter* find_parameter(std::string_view name);
// The parts of `text` between blanks.
std::vector<std::string_view> words_in(std::string_view text);

}  // namespace symnas::vnfsd::api
