#include "vnfsd/api/router.h"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "fsal_cluster/check/finding.h"
#include "vnfsd/api/audit.h"
#include "vnfsd/api/limits.h"
#include "vnfsd/api/openapi.h"
#include "vnfsd/api/routes.h"
#include "vnfsd/jobs/jobs.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

tl::unexpected<Error> no_such_path(const ApiRequest& request) {
  return fail(ErrorCode::kNotSupported,
              fmt::format("API: {} {}: no such request (are symnas and vnfsd of one version?)",
                          request.method, request.path));
}

Status check_role(const Caller& caller, Role needed, const ApiRequest& request) {
  if (caller.role >= needed) return {};
  return fail(ErrorCode::kPermission,
              fmt::format("API: {} {}: is for the role {}; {} has the role {}", request.method,
                          request.path, name_of(needed),
                          caller.name.empty() ? "a caller without a name" : caller.name,
                          name_of(caller.role)));
}

// What is misspelt would be lost else: a dry run would be none.
Status check_parameters(const ApiRequest& request, const Route& route) {
  const std::vector<std::string_view> known = words_in(route.query);
  for (const auto& [name, value] : request.query) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("API: {} {}: has no parameter {}", request.method, request.path,
                            fs::check::printable(name)));
  }
  return {};
}

// An object; of a request without a body an empty one.
Result<json> body_of(const ApiRequest& request, const Route& route) {
  if (request.method != "POST") return json::object();
  bool is_too_deep = false;
  const auto keep = [&](int depth, json::parse_event_t, json&) {
    is_too_deep = is_too_deep || depth > kBodyDepthMax;
    return !is_too_deep;
  };
  json body = json::parse(request.body.empty() ? "{}" : request.body, keep, false);
  if (is_too_deep) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("API: POST {}: the body is nested more than {} deep", request.path,
                            kBodyDepthMax));
  }
  if (!body.is_object()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("API: POST {}: the body is not a JSON object", request.path));
  }
  if (route.body.empty() && !body.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("API: POST {}: takes no members in its body", request.path));
  }
  return body;
}

// The job's reply. The work has copies of all that it needs.
Result<json> begin_job(const Backends& backends, AccessBackend& access, Jobs* jobs,
                       const ApiRequest& request, const Match& match, const json& body) {
  if (jobs == nullptr) return fail(ErrorCode::kNotSupported, "job: this vnfsd has none");
  JobRecord wanted;
  wanted.kind = match.route->operation;
  wanted.what = request.path.substr(std::string_view("/v1/").size());
  wanted.by = request.caller.name;
  wanted.role = name_of(match.route->role);
  const auto work = [backends, &access, jobs, request, match, body](Progress& progress) {
    return match.route->handler({backends, access, request, match.names, body, progress, jobs});
  };
  // Root's socket gives nobody away who could lose that right.
  Leave leave;
  if (request.caller.over_network()) {
    leave = [&access, credential = request.credential]() -> Status {
      const auto caller = access.authenticate(credential);
      return caller ? Status() : tl::unexpected<Error>(caller.error());
    };
  }
  SYMNAS_ASSIGN(const JobRecord begun, jobs->start(std::move(wanted), work, std::move(leave)));
  return json{{"job", job_document(begun, Detail::kShort)}};
}

}  // namespace

Result<json> Router::handle(const ApiRequest& request) {
  const Result<json> result = answer(request);
  note_in_audit(access_, request, result);
  return result;
}

Result<json> Router::answer(const ApiRequest& request) {
  const Match match = find_route(request.method, request.path);
  if (match.route == nullptr) return no_such_path(request);
  SYMNAS_TRY(check_role(request.caller, match.route->role, request));
  SYMNAS_TRY(check_parameters(request, *match.route));
  SYMNAS_ASSIGN(const json body, body_of(request, *match.route));
  if (request.is_for_a_job() && request.mode == Mode::kCommit)
    return begin_job(backends_, access_, jobs_, request, match, body);
  return match.route->handler(
      {backends_, access_, request, match.names, body, nobody_watches(), jobs_});
}

}  // namespace symnas::vnfsd::api
