#include "vnfsd/api/routes.h"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "common/env/clock.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

std::vector<std::string> components(std::string_view path) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) out.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// The names in `parts`; nullopt: they are another path.
std::optional<std::vector<std::string>> names_in(const std::vector<std::string>& parts,
                                                 const std::vector<std::string>& path) {
  if (parts.size() != path.size()) return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (path[i].starts_with('{')) {
      names.push_back(parts[i]);
    } else if (path[i] != parts[i]) {
      return std::nullopt;
    }
  }
  return names;
}

}  // namespace

const std::vector<Route>& all_routes() {
  static const std::vector<Route> routes = [] {
    std::vector<Route> all;
    for (const auto part : {status_routes, head_routes, storage_routes, quota_routes, export_routes,
                            vnfs_routes, load_routes, job_routes, access_routes}) {
      const std::vector<Route> rows = part();
      all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
  }();
  return routes;
}

Match find_route(std::string_view method, const std::string& path) {
  const std::vector<std::string> parts = components(path);
  for (const Route& route : all_routes()) {
    if (route.method != method) continue;
    if (auto names = names_in(parts, components(route.path))) return {&route, std::move(*names)};
  }
  return {};
}

std::string methods_of(const std::string& path) {
  std::string out;
  for (const char* method : {"GET", "POST", "DELETE"}) {
    if (find_route(method, path).route == nullptr) continue;
    out += (out.empty() ? "" : ", ") + std::string(method);
  }
  return out;
}

Result<json> done(Result<std::string> what) {
  if (!what) return tl::unexpected<Error>(std::move(what.error()));
  return json{{"done", lines_of(*what)}};
}

Result<json> change_records(const Call& call, const Planner& planner) {
  return done(call.backends.records.change(planner, call.request.mode));
}

Result<ClusterView> view_of_places(RecordsBackend& records) {
  auto view = records.view();
  if (!view) {
    view.error().message =
        "vnfs: nothing can move now, what is served goes on where it is: " + view.error().message;
  }
  return view;
}

std::int64_t now_ns() { return env::system_clock().wall_ns(); }

}  // namespace symnas::vnfsd::api
