// Samples: documents that are of a schema of the API (vnfsd/api/schemas/schemas.h).
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace symnas::vnfsd::api {

enum class Members { kNeeded, kAll };

// Lists have one element. `set`: members that are to have these values.
nlohmann::json sample_of(const std::string& schema, const nlohmann::json& set,
                         Members members = Members::kNeeded);
nlohmann::json sample_of(const std::string& schema, Members members = Members::kNeeded);

}  // namespace symnas::vnfsd::api
