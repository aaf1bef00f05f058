#include "vnfsd/api/audit.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

// Lines of {"done": [...]}, or nothing.
std::string done_text(const json& document) {
  std::string text;
  const auto done = document.find("done");
  if (done == document.end() || !done->is_array()) return text;
  for (const json& line : *done) {
    if (line.is_string()) text += (text.empty() ? "" : "; ") + line.get<std::string>();
  }
  return text;
}

std::string path_and_query(const ApiRequest& request) {
  std::string out = request.path;
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    if (name == "dry_run") continue;  // is the outcome
    out += fmt::format("{}{}={}", separator, name, value);
    separator = '&';
  }
  return out;
}

}  // namespace

void note_in_audit(AccessBackend& access, const ApiRequest& request, const Result<json>& result) {
  const bool refused = !result && result.error().code == ErrorCode::kPermission;
  if (request.method == "GET" && !refused) return;
  AuditEntry entry{request.caller, request.method, path_and_query(request), "done", ""};
  if (!result) {
    entry.outcome = to_string(result.error().code);
    entry.text = result.error().message;
  } else {
    if (request.mode == Mode::kDryRun) entry.outcome = "dry-run";
    entry.text = done_text(*result);
  }
  access.record(entry);
}

}  // namespace symnas::vnfsd::api
