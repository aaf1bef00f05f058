#include "vnfsd/api/schemas/schemas.h"

#include <string_view>

#include <nlohmann/json.hpp>

#include "common/base/check.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

// Takes a leading `word` off.
bool takes(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

json words_of(std::string_view text) {
  json words = json::array();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('|'), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

json type_of(std::string_view text) {
  if (takes(text, "list of ")) return {{"type", "array"}, {"items", type_of(text)}};
  if (takes(text, "map of ")) return {{"type", "object"}, {"additionalProperties", type_of(text)}};
  if (takes(text, "one of ")) return {{"type", "string"}, {"enum", words_of(text)}};
  if (text == "text") return {{"type", "string"}};
  if (text == "count") return {{"type", "integer"}, {"minimum", 0}};
  if (text == "whole") return {{"type", "integer"}};
  if (text == "number") return {{"type", "number"}};
  if (text == "flag") return {{"type", "boolean"}};
  if (text == "any") return json::object();
  return {{"$ref", "#/components/schemas/" + std::string(text)}};
}

json member_of(const std::string& written) {
  const std::size_t colon = written.find(": ");
  json out = type_of(std::string_view(written).substr(0, colon));
  if (colon != std::string::npos) out["description"] = written.substr(colon + 2);
  return out;
}

}  // namespace

json expand_schema(const json& text, Unknown unknown) {
  json out = {{"type", "object"}, {"properties", json::object()}};
  json required = json::array();
  for (const auto& [name, written] : text.items()) {
    if (name.empty()) {
      out["description"] = written;
    } else if (name.ends_with('?')) {
      out["properties"][name.substr(0, name.size() - 1)] = member_of(written);
    } else {
      out["properties"][name] = member_of(written);
      required.push_back(name);
    }
  }
  if (!required.empty()) out["required"] = required;
  if (unknown == Unknown::kClosed) out["additionalProperties"] = false;
  return out;
}

const json& written_schemas() {
  static const json all = [] {
    json schemas = json::object();
    for (const char* const part :
         {kAccessSchemas, kClusterSchemas, kExportSchemas, kInspectionSchemas, kJobSchemas,
          kLoadSchemas, kStatusSchemas, kStorageSchemas, kVnfsSchemas}) {
      const json parsed = json::parse(part);
      for (const auto& [name, schema] : parsed.items()) {
        CHECK(!schemas.contains(name));
        schemas[name] = schema;
      }
    }
    return schemas;
  }();
  return all;
}

}  // namespace symnas::vnfsd::api
