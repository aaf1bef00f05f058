#include "vnfsd/api/router.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/env/clock.h"
#include "vnfsd/api/body.h"
#include "vnfsd/api/documents.h"
#include "vnfsd/api/locks.h"
#include "vnfsd/api/placement.h"
#include "vnfsd/api/why.h"
#include "vnfsd/plans/deciders.h"
#include "vnfsd/plans/levels.h"
#include "vnfsd/plans/placement.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

std::vector<std::string> components(const std::string& path) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) out.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

tl::unexpected<Error> no_such_path(const ApiRequest& request) {
  return fail(ErrorCode::kNotSupported,
              fmt::format("API: {} {}: no such request (are symnas and vnfsd of one version?)",
                          request.method, request.path));
}

Result<json> done(Result<std::string> what) {
  if (!what) return tl::unexpected<Error>(std::move(what.error()));
  return json{{"done", lines_of(*what)}};
}

std::int64_t now_ns() { return env::system_clock().wall_ns(); }

// "" where corosync is not asked.
std::string corosync_metrics(const json& status) {
  const auto corosync = status.find("corosync");
  if (corosync == status.end()) return "";
  std::string out = fmt::format(
      "# HELP symnas_corosync_up 1 while corosync answers and this head is in its majority.\n"
      "# TYPE symnas_corosync_up gauge\n"
      "symnas_corosync_up {}\n"
      "# HELP symnas_corosync_member 1 while corosync has the head as a member.\n"
      "# TYPE symnas_corosync_member gauge\n",
      corosync->value("error", "").empty() && corosync->value("quorate", false) ? 1 : 0);
  for (const json& head : corosync->value("heads", json::array())) {
    out += fmt::format("symnas_corosync_member{{head=\"{}\"}} {}\n", head.value("head", ""),
                       head.value("state", "") == "member" ? 1 : 0);
  }
  return out;
}

std::string arrivals_metrics(const json& arrivals) {
  std::string out =
      "# HELP symnas_vnfs_arrivals_total VNFSs that came to be served here, since vnfsd started.\n"
      "# TYPE symnas_vnfs_arrivals_total counter\n";
  std::string sums =
      "# HELP symnas_vnfs_blackout_seconds Time without an answer before each of them.\n"
      "# TYPE symnas_vnfs_blackout_seconds summary\n";
  for (const json& seen : arrivals) {
    const std::string labels = fmt::format("{{vnfs=\"{}\",cause=\"{}\"}}", seen.value("vnfs", ""),
                                           seen.value("cause", ""));
    out += fmt::format("symnas_vnfs_arrivals_total{} {}\n", labels, seen.value("count", 0));
    sums += fmt::format("symnas_vnfs_blackout_seconds_sum{} {}\n", labels,
                        static_cast<double>(seen.value("blackout_ms", std::int64_t{0})) / 1000);
    sums +=
        fmt::format("symnas_vnfs_blackout_seconds_count{} {}\n", labels, seen.value("timed", 0));
  }
  return out + sums;
}

}  // namespace

Result<json> Router::handle(const ApiRequest& request) {
  const std::vector<std::string> parts = components(request.path);
  if (parts.size() < 2 || parts.size() > 5 || parts[0] != "v1") return no_such_path(request);
  const std::string& collection = parts[1];
  if (collection == "locks" && parts.size() == 2) return act_on_locks(request);
  if (request.method == "GET" && parts.size() == 2) {
    if (collection == "status") return status();
    if (collection == "capacity") return backends_.inspection.capacity();
    if (collection == "members") return backends_.members.etcd_members();
    if (collection == "events") return backends_.status.events(request.after);
    if (collection == "placement" || collection == "distribution")
      return look_at_places(collection);
    return list(collection);
  }
  if (request.method == "DELETE" && parts.size() == 3) {
    return remove(collection, parts[2], request);
  }
  if (request.method == "GET" && parts.size() == 4 && collection == "vnfs" &&
      parts[3] == "history") {
    return backends_.vnfs.vnfs_history(parts[2]);
  }
  if (request.method == "GET" && parts.size() == 5 && collection == "vnfs" && parts[3] == "why")
    return explain(parts[2], parts[4]);
  if (request.method == "GET" && parts.size() == 5 && collection == "vnfs" &&
      parts[3] == "standing")
    return backends_.deciders.standing(parts[2], parts[4]);
  if (request.method != "POST") return no_such_path(request);
  const json body = json::parse(request.body.empty() ? "{}" : request.body, nullptr, false);
  if (!body.is_object()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("API: POST {}: the body is not a JSON object", request.path));
  }
  if (parts.size() == 2) return create(collection, body, request.mode);
  if (parts.size() == 4) return act(collection, parts[2], parts[3], body, request);
  return no_such_path(request);
}

Result<json> Router::list(const std::string& collection) {
  SYMNAS_ASSIGN(const ClusterView view, backends_.records.view());
  if (collection == "heads") return json{{collection, heads_document(view)}};
  if (collection == "networks") return json{{collection, networks_document(view)}};
  if (collection == "luns") return json{{collection, luns_document(view)}};
  if (collection == "volumes") return json{{collection, volumes_document(view)}};
  if (collection == "filesystems") return json{{collection, filesystems_document(view)}};
  if (collection == "exports") return json{{collection, exports_document(view)}};
  if (collection == "vnfs") return json{{collection, vnfs_document(view)}};
  return no_such_path({"GET", "/v1/" + collection, "", Mode::kCommit});
}

Result<json> Router::create(const std::string& collection, const json& body, Mode mode) {
  if (collection == "luns") return import_luns(body, mode);
  if (collection == "lun-scan") {
    SYMNAS_ASSIGN(const std::vector<std::string> paths, lun_scan_request(body));
    return backends_.luns.scan_luns(paths);
  }
  if (collection == "networks") {
    SYMNAS_ASSIGN(const NetworkRequest r, network_request(body));
    return done(backends_.records.change(
        [&](const ClusterView& view) { return plan_network_create(view, r); }, mode));
  }
  if (collection == "volumes") {
    SYMNAS_ASSIGN(const VolumeRequest r, volume_request(body));
    return done(backends_.volumes.create_volume(r, mode));
  }
  if (collection == "filesystems") {
    SYMNAS_ASSIGN(const FilesystemRequest r, filesystem_request(body));
    return done(backends_.filesystems.create_filesystem(r, mode));
  }
  if (collection == "exports") {
    SYMNAS_ASSIGN(const ExportRequest r, export_request(body));
    return done(backends_.records.change(
        [&](const ClusterView& view) { return plan_export_create(view, r); }, mode));
  }
  if (collection == "vnfs") {
    SYMNAS_ASSIGN(const VnfsRequest r, vnfs_request(body));
    return done(backends_.vnfs.create_vnfs(r, mode));
  }
  if (collection == "vnfs-sets") {
    SYMNAS_ASSIGN(const VnfsSetRequest r, vnfs_set_request(body));
    return done(backends_.vnfs.create_vnfs_set(r, mode));
  }
  if (collection == "decider") {
    SYMNAS_ASSIGN(const records::Decider wanted, decider_request(body));
    return done(backends_.records.change(
        [&](const ClusterView& view) { return plan_decider(view, wanted); }, mode));
  }
  if (collection == "level") return done(backends_.records.change(plan_level_raise, mode));
  if (collection == "heads") {
    SYMNAS_ASSIGN(const InviteRequest r, invite_request(body));
    return backends_.heads.invite_head(r.name, r.address, r.etcd, mode);
  }
  return no_such_path({"POST", "/v1/" + collection, "", mode});
}

Result<json> Router::remove(const std::string& collection, const std::string& name,
                            const ApiRequest& request) {
  const Mode mode = request.mode;
  const auto planned = [&](auto plan) {
    return done(
        backends_.records.change([&](const ClusterView& view) { return plan(view, name); }, mode));
  };
  if (collection == "networks") return planned(plan_network_remove);
  if (collection == "luns") {
    const auto forget = request.query.find("forget");
    const bool is_gone = forget != request.query.end() && forget->second == "true";
    return done(backends_.luns.release_lun(name, is_gone ? Label::kForget : Label::kErase, mode));
  }
  if (collection == "volumes") return done(backends_.volumes.remove_volume(name, mode));
  if (collection == "filesystems") return done(backends_.filesystems.remove_filesystem(name, mode));
  if (collection == "exports")
    return done(backends_.exports.remove_export(name, {}, request.consent, mode));
  if (collection == "vnfs") return done(backends_.vnfs.remove_vnfs(name, request.consent, mode));
  if (collection == "heads") return done(backends_.heads.remove_head(name, request.consent, mode));
  if (collection == "members") return done(backends_.members.remove_etcd_member(name, mode));
  return no_such_path({"DELETE", "/v1/" + collection + "/" + name, "", mode});
}

Result<json> Router::act(const std::string& collection, const std::string& name,
                         const std::string& action, const json& body, const ApiRequest& request) {
  const Mode mode = request.mode;
  if (collection == "volumes" && action == "grow") {
    SYMNAS_ASSIGN(VolumeRequest r, grow_request(body));
    r.name = name;
    return done(backends_.volumes.grow_volume(r, mode));
  }
  if (collection == "heads" && action == "fence")
    return done(backends_.heads.fence_head(name, mode));
  if (collection == "filesystems" && action == "check")
    return backends_.inspection.check_filesystem(name);
  if (collection == "filesystems" && action == "dump") {
    SYMNAS_ASSIGN(const DumpRequest r, dump_request(body));
    return backends_.inspection.dump_inode(name, r);
  }
  const auto planned = [&](const Planner& plan) {
    return done(backends_.records.change(plan, mode));
  };
  if (collection == "filesystems" && action == "set") {
    SYMNAS_ASSIGN(const FilesystemEdit edit, filesystem_edit(body));
    return planned([&](const ClusterView& v) { return plan_filesystem_set(v, name, edit); });
  }
  if (collection == "heads" && action == "drain")
    return planned([&](const ClusterView& v) -> Result<Change> {
      SYMNAS_TRY(check_builtin_decides(v, "head drain", kDrainInstead));
      return plan_head_drain(v, name, now_ns());
    });
  if (collection == "heads" && action == "undrain")
    return planned([&](const ClusterView& v) { return plan_head_undrain(v, name); });
  if (collection == "vnfs") return act_on_vnfs(name, action, body, mode);
  if (collection == "exports") return act_on_export(name, action, body, request);
  return no_such_path({"POST", "/v1/" + collection + "/" + name + "/" + action, "", mode});
}

Result<json> Router::act_on_export(const std::string& name, const std::string& action,
                                   const json& body, const ApiRequest& request) {
  if (action == "set") {
    SYMNAS_ASSIGN(ExportEdit edit, export_edit(body));
    edit.name = name;
    return done(backends_.exports.edit_exports(
        [&](const ClusterView& view) { return plan_export_set(view, edit); }, request.mode));
  }
  if (action == "add") {
    SYMNAS_ASSIGN(const std::vector<std::string> vnfses, vnfses_request(body));
    return done(backends_.exports.edit_exports(
        [&](const ClusterView& view) { return plan_export_add(view, name, vnfses); },
        request.mode));
  }
  if (action == "take-off") {
    SYMNAS_ASSIGN(const std::vector<std::string> vnfses, vnfses_request(body));
    return done(backends_.exports.remove_export(name, vnfses, request.consent, request.mode));
  }
  return no_such_path({"POST", "/v1/exports/" + name + "/" + action, "", request.mode});
}

Result<json> Router::act_on_vnfs(const std::string& name, const std::string& action,
                                 const json& body, Mode mode) {
  const auto planned = [&](const Planner& plan) {
    return done(backends_.records.change(plan, mode));
  };
  if (action == "start" || action == "stop") {
    const WantedState state = action == "start" ? WantedState::kStarted : WantedState::kStopped;
    return planned([&](const ClusterView& v) { return plan_vnfs_state(v, name, state); });
  }
  if (action == "set") {
    SYMNAS_ASSIGN(VnfsEdit edit, vnfs_edit(body));
    edit.name = name;
    return planned([&](const ClusterView& v) { return plan_vnfs_set(v, edit); });
  }
  if (action == "rehost") {
    SYMNAS_ASSIGN(const RehostRequest r, rehost_request(body));
    return done(backends_.vnfs.rehost_vnfs(name, r.head, r.pin, mode));
  }
  if (action == "take" || action == "leave") {
    SYMNAS_ASSIGN(DeciderOrder order, decider_order(body, "ha " + action));
    order.vnfs = name;
    return done(action == "take" ? backends_.deciders.take(order, mode)
                                 : backends_.deciders.leave(order, mode));
  }
  if (action == "failback")
    return planned([&](const ClusterView& v) -> Result<Change> {
      SYMNAS_TRY(check_builtin_decides(v, "vnfs failback", kMoveInstead));
      return plan_vnfs_failback(v, name, now_ns());
    });
  if (action == "kill")
    return planned([&](const ClusterView& v) { return plan_vnfs_kill(v, name); });
  if (action == "restart") {
    SYMNAS_ASSIGN(const std::optional<Epoch> epoch, restart_request(body));
    return planned([&](const ClusterView& v) { return plan_vnfs_restart(v, name, epoch); });
  }
  if (action == "stay")
    return planned([&](const ClusterView& v) { return plan_vnfs_stay(v, name); });
  return no_such_path({"POST", "/v1/vnfs/" + name + "/" + action, "", mode});
}

Result<ClusterView> Router::view_of_places() {
  auto view = backends_.records.view();
  if (!view) {
    view.error().message =
        "vnfs: nothing can move now, what is served goes on where it is: " + view.error().message;
  }
  return view;
}

Result<json> Router::look_at_places(const std::string& collection) {
  SYMNAS_ASSIGN(const ClusterView view, view_of_places());
  if (collection == "distribution") return distribution_document(view, now_ns());
  return placement_document(view, backends_.status.local_status(), now_ns());
}

Result<json> Router::explain(const std::string& vnfs, const std::string& head) {
  SYMNAS_ASSIGN(const ClusterView view, view_of_places());
  return why_document(view, backends_.status.local_status(), vnfs, head, now_ns());
}

Result<json> Router::act_on_locks(const ApiRequest& request) {
  if (request.method != "GET" && request.method != "DELETE") return no_such_path(request);
  SYMNAS_ASSIGN(const LockFilter filter, lock_filter(request.query));
  if (request.method == "GET") return backends_.locks.locks(filter);
  return done(backends_.locks.clear_locks(filter, request.mode));
}

Result<json> Router::import_luns(const json& body, Mode mode) {
  SYMNAS_ASSIGN(const std::vector<LunImportRequest> requests, lun_import_requests(body));
  json whats = json::array();
  for (const LunImportRequest& request : requests) {
    Result<std::string> what = backends_.luns.import_lun(request, mode);
    if (!what) {
      Error error = std::move(what.error());
      if (!whats.empty()) {
        error.message += fmt::format(" [{} LUNs named before it were imported]", whats.size());
      }
      return tl::unexpected<Error>(std::move(error));
    }
    whats.push_back(*what);
  }
  return json{{"done", whats}};
}

Result<json> Router::status() {
  json document = backends_.status.local_status();
  auto view = backends_.records.view();
  if (!view) {
    // A head without etcd still says what it sees itself.
    document["error"] = view.error().message;
    document["vnfs"] = json::array();
    for (const auto& [name, instance] : document["instances"].items()) {
      document["vnfs"].push_back(
          {{"name", name}, {"state", instance["state"]}, {"instance", instance}});
    }
    return document;
  }
  document["cluster"] = cluster_document(*view);
  document["heads"] = heads_document(*view);
  json vnfses = vnfs_document(*view);
  for (json& vnfs : vnfses) {
    const auto& instances = document["instances"];
    const auto it = instances.find(vnfs["name"].get<std::string>());
    if (it != instances.end()) {
      vnfs["instance"] = *it;
      vnfs["state"] = (*it)["state"];
    } else {
      const bool owned = !vnfs["owner"].get<std::string>().empty();
      vnfs["state"] = owned ? "owned" : vnfs["wanted"] == "stopped" ? "stopped" : "waiting";
    }
  }
  document["vnfs"] = vnfses;
  return document;
}

std::string Router::metrics() {
  const json status = backends_.status.local_status();
  std::string out =
      "# HELP symnas_instance_up 1 while the instance serves.\n# TYPE symnas_instance_up gauge\n";
  std::string restarts =
      "# HELP symnas_instance_restarts_total Restarts in place since vnfsd started.\n"
      "# TYPE symnas_instance_restarts_total counter\n";
  const json instances = status.value("instances", json::object());
  for (const auto& [name, instance] : instances.items()) {
    out += fmt::format("symnas_instance_up{{vnfs=\"{}\"}} {}\n", name,
                       instance.value("state", "") == "serving" ? 1 : 0);
    restarts += fmt::format("symnas_instance_restarts_total{{vnfs=\"{}\"}} {}\n", name,
                            instance.value("restarts", 0));
  }
  out += restarts +
         "# HELP symnas_lun_found 1 if the LUN is open on this head.\n"
         "# TYPE symnas_lun_found gauge\n";
  for (const json& lun : status.value("luns", json::array())) {
    out += fmt::format("symnas_lun_found{{lun=\"{}\"}} {}\n", lun.value("name", ""),
                       lun.value("path", "").empty() ? 0 : 1);
  }
  out +=
      "# HELP symnas_etcd_db_bytes Size of the member's database.\n"
      "# TYPE symnas_etcd_db_bytes gauge\n";
  for (const json& member : status.value("etcd", json::array())) {
    out += fmt::format("symnas_etcd_db_bytes{{endpoint=\"{}\"}} {}\n", member.value("endpoint", ""),
                       member.value("db_size_bytes", std::int64_t{0}));
  }
  return out + corosync_metrics(status) + arrivals_metrics(status.value("arrivals", json::array()));
}

}  // namespace symnas::vnfsd::api
