#include "tests/unit/vnfsd/api/schema_samples.h"

#include <nlohmann/json.hpp>

#include "vnfsd/api/schemas/schemas.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

json value_of(const std::string& type, Members members) {
  if (type.starts_with("list of ")) return json::array({value_of(type.substr(8), members)});
  if (type.starts_with("map of ")) return json::object();
  if (type.starts_with("one of ")) return type.substr(7, type.find('|') - 7);
  if (type == "text") return "x";
  if (type == "count" || type == "whole" || type == "number") return 1;
  if (type == "flag") return false;
  if (type == "any") return json::object();
  return sample_of(type, members);
}

}  // namespace

json sample_of(const std::string& schema, const json& set, Members members) {
  json out = json::object();
  for (const auto& [name, written] : written_schemas().at(schema).items()) {
    const bool is_optional = name.ends_with('?');
    if (name.empty() || (is_optional && members == Members::kNeeded)) continue;
    const std::string text = written.get<std::string>();
    out[name.substr(0, name.size() - (is_optional ? 1 : 0))] =
        value_of(text.substr(0, text.find(": ")), members);
  }
  if (set.is_object()) out.update(set);
  return out;
}

json sample_of(const std::string& schema, Members members) {
  return sample_of(schema, json::object(), members);
}

}  // namespace symnas::vnfsd::api
