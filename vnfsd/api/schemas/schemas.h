// Schemas: the shapes of all bodies and replies of the API, by name. Thread-safe: constant.
//
// They are written down short, in JSON: a schema is an object of its members, each "TYPE: what it
// means". TYPE is text, count (a whole number >= 0), whole (a whole number), number, flag, any,
// `one of a|b`, or the name of another schema, each also as `list of TYPE` and `map of TYPE`. A
// member whose name ends in "?" may be missing; the member "" says what the whole is.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace symnas::vnfsd::api {

// kClosed: members that the schema does not name are not valid. For replies that is for tests only:
// the next version may answer with more, which a client has to ignore.
enum class Unknown { kOpen, kClosed };

// JSON Schema (2020-12) of what was written down so; `where`: how another schema is referred to,
// "#/components/schemas/". REQUIRES: `text` is such a schema.
nlohmann::json expand_schema(const nlohmann::json& text, Unknown unknown);

// All of them, as they are written down: {"Network": {"name": "text: ...", ...}, ...}.
const nlohmann::json& written_schemas();

// Parts of it, a file each.
extern const char* const kAccessSchemas;
extern const char* const kClusterSchemas;
extern const char* const kExportSchemas;
extern const char* const kInspectionSchemas;
extern const char* const kJobSchemas;
extern const char* const kLoadSchemas;
extern const char* const kStatusSchemas;
extern const char* const kStorageSchemas;
extern const char* const kVnfsSchemas;

}  // namespace symnas::vnfsd::api
