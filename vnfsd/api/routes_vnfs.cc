// VNFSs, and where they run.
#include <nlohmann/json.hpp>

#include "vnfsd/api/body.h"
#include "vnfsd/api/documents.h"
#include "vnfsd/api/placement.h"
#include "vnfsd/api/routes.h"
#include "vnfsd/api/vnfs_sight.h"
#include "vnfsd/api/why.h"
#include "vnfsd/plans/deciders.h"
#include "vnfsd/plans/placement.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

Result<json> list_vnfs(const Call& call) {
  SYMNAS_ASSIGN(const ClusterView view, call.backends.records.view());
  return json{{"vnfs", vnfs_document(view)}};
}

Result<json> create_vnfs(const Call& call) {
  SYMNAS_ASSIGN(const VnfsRequest r, vnfs_request(call.body));
  return done(call.backends.vnfs.create_vnfs(r, call.request.mode));
}

Result<json> create_vnfs_set(const Call& call) {
  SYMNAS_ASSIGN(const VnfsSetRequest r, vnfs_set_request(call.body));
  return done(call.backends.vnfs.create_vnfs_set(r, call.request.mode));
}

Result<json> set_vnfs(const Call& call) {
  SYMNAS_ASSIGN(VnfsEdit edit, vnfs_edit(call.body));
  edit.name = call.name();
  return change_records(call, [&](const ClusterView& v) { return plan_vnfs_set(v, edit); });
}

Result<json> remove_vnfs(const Call& call) {
  return done(call.backends.vnfs.remove_vnfs(call.name(), call.request.consent, call.request.mode));
}

Result<json> start(const Call& call) {
  return change_records(call, [&](const ClusterView& v) {
    return plan_vnfs_state(v, call.name(), WantedState::kStarted);
  });
}

Result<json> stop(const Call& call) {
  return change_records(call, [&](const ClusterView& v) {
    return plan_vnfs_state(v, call.name(), WantedState::kStopped);
  });
}

Result<json> rehost(const Call& call) {
  SYMNAS_ASSIGN(const RehostRequest r, rehost_request(call.body));
  return done(call.backends.vnfs.rehost_vnfs(call.name(), r.head, r.pin, call.request.mode));
}

Result<json> stay(const Call& call) {
  return change_records(call, [&](const ClusterView& v) { return plan_vnfs_stay(v, call.name()); });
}

Result<json> failback(const Call& call) {
  return change_records(call, [&](const ClusterView& v) -> Result<Change> {
    SYMNAS_TRY(check_builtin_decides(v, "vnfs failback", kMoveInstead));
    return plan_vnfs_failback(v, call.name(), now_ns());
  });
}

Result<json> restart(const Call& call) {
  SYMNAS_ASSIGN(const std::optional<Epoch> epoch, restart_request(call.body));
  return change_records(
      call, [&](const ClusterView& v) { return plan_vnfs_restart(v, call.name(), epoch); });
}

Result<json> kill(const Call& call) {
  return change_records(call, [&](const ClusterView& v) { return plan_vnfs_kill(v, call.name()); });
}

Result<json> history(const Call& call) { return call.backends.vnfs.vnfs_history(call.name()); }

Result<json> why(const Call& call) {
  SYMNAS_ASSIGN(const ClusterView view, view_of_places(call.backends.records));
  return why_document(view, sight_of(call.backends.status, view), call.name(), call.names.at(1),
                      now_ns());
}

Result<json> set_keytab(const Call& call) {
  SYMNAS_ASSIGN(KeytabRequest request, keytab_request(call.body));
  request.vnfs = call.name();
  return done(call.backends.keytabs.set_keytab(request, call.request.mode));
}

Result<json> remove_keytab(const Call& call) {
  return done(call.backends.keytabs.remove_keytab(call.name(), call.request.mode));
}

Result<json> take(const Call& call) {
  SYMNAS_ASSIGN(DeciderOrder order, decider_order(call.body, "ha take"));
  order.vnfs = call.name();
  return done(call.backends.deciders.take(order, call.request.mode));
}

Result<json> leave(const Call& call) {
  SYMNAS_ASSIGN(DeciderOrder order, decider_order(call.body, "ha leave"));
  order.vnfs = call.name();
  return done(call.backends.deciders.leave(order, call.request.mode));
}

Result<json> standing(const Call& call) {
  return call.backends.deciders.standing(call.name(), call.names.at(1));
}

}  // namespace

std::vector<Route> vnfs_routes() {
  return {
      {"GET", "/v1/vnfs", "listVnfs", Role::kViewer, "", "VnfsList", "", "The VNFSs.", list_vnfs},
      {"POST", "/v1/vnfs", "createVnfs", Role::kAdmin, "Vnfs", "Done", "dry_run",
       "Records a VNFS; the status shows when it serves.", create_vnfs},
      {"POST", "/v1/vnfs-sets", "createVnfsSet", Role::kAdmin, "VnfsSet", "Done", "dry_run",
       "Records one VNFS for each head, all of them or none.", create_vnfs_set},
      {"POST", "/v1/vnfs/{name}/set", "setVnfs", Role::kAdmin, "VnfsEdit", "Done", "dry_run",
       "Changes the heads or the failback of a VNFS.", set_vnfs},
      {"DELETE", "/v1/vnfs/{name}", "removeVnfs", Role::kAdmin, "", "Done", "dry_run yes",
       "Removes a VNFS; with consent also one that clients use.", remove_vnfs},
      {"POST", "/v1/vnfs/{name}/start", "startVnfs", Role::kOperator, "", "Done", "dry_run",
       "Records that the VNFS is to serve.", start},
      {"POST", "/v1/vnfs/{name}/stop", "stopVnfs", Role::kOperator, "", "Done", "dry_run",
       "Records that the VNFS is not to serve.", stop},
      {"POST", "/v1/vnfs/{name}/rehost", "rehostVnfs", Role::kOperator, "Rehost", "Done", "dry_run",
       "Orders the VNFS to a head; /v1/vnfs shows the move until it is served there.", rehost},
      {"POST", "/v1/vnfs/{name}/stay", "stayVnfs", Role::kOperator, "", "Done", "dry_run",
       "Takes back an order that its head has not answered.", stay},
      {"POST", "/v1/vnfs/{name}/failback", "failbackVnfs", Role::kOperator, "", "Done", "dry_run",
       "Orders the VNFS to the first of its heads that can serve it.", failback},
      {"POST", "/v1/vnfs/{name}/restart", "restartVnfs", Role::kOperator, "Restart", "Done",
       "dry_run", "Has the present instance closed and followed by another one on its head.",
       restart},
      {"POST", "/v1/vnfs/{name}/kill", "killVnfs", Role::kAdmin, "", "Done", "dry_run",
       "Kills the present instance (a drill).", kill},
      {"POST", "/v1/vnfs/{name}/keytab", "setVnfsKeytab", Role::kAdmin, "Keytab", "Done", "dry_run",
       "Gives the VNFS a keytab; answers when its instance has taken it.", set_keytab},
      {"DELETE", "/v1/vnfs/{name}/keytab", "removeVnfsKeytab", Role::kAdmin, "", "Done", "dry_run",
       "Takes the keytab of the VNFS away.", remove_keytab},
      {"GET", "/v1/vnfs/{name}/history", "getVnfsHistory", Role::kViewer, "", "VnfsHistory", "",
       "The last instances of the VNFS, at most 32, by time.", history},
      {"GET", "/v1/vnfs/{name}/why/{head}", "explainVnfs", Role::kViewer, "", "Why", "",
       "Why the VNFS may or may not run on that head now.", why},
      {"POST", "/v1/vnfs/{name}/take", "takeVnfs", Role::kOperator, "DeciderOrder", "Done",
       "dry_run", "Orders the VNFS to a head in the name of a decider.", take},
      {"POST", "/v1/vnfs/{name}/leave", "leaveVnfs", Role::kOperator, "DeciderOrder", "Done",
       "dry_run", "Orders the VNFS off a head in the name of a decider.", leave},
      {"GET", "/v1/vnfs/{name}/standing/{head}", "getVnfsStanding", Role::kViewer, "", "Standing",
       "", "How the VNFS stands with that head.", standing},
  };
}

}  // namespace symnas::vnfsd::api
