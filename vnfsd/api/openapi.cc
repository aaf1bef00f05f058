#include "vnfsd/api/openapi.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/api/routes.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

constexpr std::array kParameters = {
    Parameter{"dry_run", "flag", "Check everything, change nothing."},
    Parameter{"yes", "flag", "Do it although clients lose what they use."},
    Parameter{"async", "flag", "Reply with 202 and a job, which does it."},
    Parameter{"after", "count", "Only what was written after this revision of etcd."},
    Parameter{"forget", "flag", "The LUN is gone for ever: its label is left as it is."},
    Parameter{"filesystem", "text", "Locks of this filesystem."},
    Parameter{"vnfs", "text", "Locks that were taken through this VNFS."},
    Parameter{"client", "text", "Locks of this client: its address, name or id as in a lock."},
    Parameter{"path", "text", "Locks of the file of this path; filesystem is given, too."},
    Parameter{"ino", "count", "Locks of this inode; filesystem is given, too."},
};

constexpr std::string_view kAbout =
    "Manages a symnas cluster: NFS heads in front of shared LUNs. Every vnfsd answers all of it. "
    "How to ask, roles and statuses: docs/operations/api.md. x-role is the least role of the "
    "caller. A reply may have members that are not named here: ignore them.";

json reference(std::string_view kind, std::string_view name) {
  return {{"$ref", fmt::format("#/components/{}/{}", kind, name)}};
}

json content(std::string_view schema) {
  return {{"application/json", {{"schema", reference("schemas", schema)}}}};
}

// Of the path of the route: {name} and the like.
json path_parameters(const Route& route) {
  json out = json::array();
  for (std::size_t at = route.path.find('{'); at != std::string_view::npos;
       at = route.path.find('{', at + 1)) {
    const std::size_t end = route.path.find('}', at);
    out.push_back({{"name", route.path.substr(at + 1, end - at - 1)},
                   {"in", "path"},
                   {"required", true},
                   {"schema", {{"type", "string"}, {"minLength", 1}}}});
  }
  return out;
}

json parameters_of(const Route& route) {
  json out = path_parameters(route);
  for (const std::string_view name : words_in(route.query)) {
    const Parameter& parameter = *find_parameter(name);
    const json schema = expand_schema({{"value", std::string(parameter.type)}}, Unknown::kOpen);
    out.push_back({{"name", parameter.name},
                   {"in", "query"},
                   {"description", parameter.description},
                   {"schema", schema["properties"]["value"]}});
  }
  return out;
}

// Else the body may be missing.
bool has_needed_members(std::string_view schema) {
  const json& members = written_schemas().at(std::string(schema));
  return std::any_of(members.items().begin(), members.items().end(), [](const auto& member) {
    return !member.key().empty() && !member.key().ends_with('?');
  });
}

bool takes_async(const Route& route) {
  const std::vector<std::string_view> names = words_in(route.query);
  return std::find(names.begin(), names.end(), "async") != names.end();
}

json operation_of(const Route& route) {
  const std::string_view rest = route.path.substr(std::string_view("/v1/").size());
  json out = {{"operationId", route.operation},
              {"summary", route.summary},
              {"tags", {rest.substr(0, rest.find('/'))}},
              {"x-role", name_of(route.role)},
              {"responses",
               {{"200", {{"description", "Done."}, {"content", content(route.reply)}}},
                {"4XX", reference("responses", "Error")},
                {"5XX", reference("responses", "Error")}}}};
  if (json parameters = parameters_of(route); !parameters.empty())
    out["parameters"] = std::move(parameters);
  if (route.path == kEventStreamPath) {
    out["responses"]["200"]["content"] = {
        {"text/event-stream", {{"schema", {{"type", "string"}}}}}};
    out["parameters"].push_back({{"name", "Last-Event-ID"},
                                 {"in", "header"},
                                 {"description", "The last id that was read; as after."},
                                 {"schema", {{"type", "string"}}}});
  }
  if (takes_async(route)) {
    out["responses"]["202"] = {{"description", "A job does it; Location says where it is shown."},
                               {"headers", {{"Location", {{"schema", {{"type", "string"}}}}}}},
                               {"content", content("JobReply")}};
  }
  if (!route.body.empty())
    out["requestBody"] = {{"required", has_needed_members(route.body)},
                          {"content", content(route.body)}};
  return out;
}

// Adds the names of the schemas to which that one refers, itself included.
void add_used(const std::string& name, std::set<std::string>& used) {
  if (!used.insert(name).second) return;
  for (const auto& [member, written] : written_schemas()[name].items()) {
    const std::string text = written.get<std::string>();
    const std::string type = text.substr(0, text.find(": "));
    const std::string last = type.substr(type.rfind(' ') + 1);
    if (!member.empty() && written_schemas().contains(last)) add_used(last, used);
  }
}

json schemas_of(Unknown replies) {
  std::set<std::string> in_bodies;
  for (const Route& route : all_routes())
    if (!route.body.empty()) add_used(std::string(route.body), in_bodies);
  json out = json::object();
  for (const auto& [name, written] : written_schemas().items())
    out[name] = expand_schema(written, in_bodies.contains(name) ? Unknown::kClosed : replies);
  return out;
}

}  // namespace

const Parameter* find_parameter(std::string_view name) {
  const auto* const found = std::find_if(kParameters.begin(), kParameters.end(),
                                         [&](const Parameter& p) { return p.name == name; });
  return found == kParameters.end() ? nullptr : found;
}

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

json openapi_document(Unknown replies) {
  json paths = json::object();
  for (const Route& route : all_routes()) {
    std::string method(route.method);
    std::transform(method.begin(), method.end(), method.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    paths[std::string(route.path)][method] = operation_of(route);
  }
  const json error = {{"description", "Nothing was done, or not all; the message says what."},
                      {"content", content("Error")}};
  return {{"openapi", "3.1.0"},
          {"info", {{"title", "symnas"}, {"version", "1"}, {"description", kAbout}}},
          {"paths", paths},
          {"components", {{"schemas", schemas_of(replies)}, {"responses", {{"Error", error}}}}}};
}

}  // namespace symnas::vnfsd::api
