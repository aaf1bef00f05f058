// Exports.
#include <nlohmann/json.hpp>

#include "vnfsd/api/body.h"
#include "vnfsd/api/documents.h"
#include "vnfsd/api/routes.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

Result<json> list_exports(const Call& call) {
  SYMNAS_ASSIGN(const ClusterView view, call.backends.records.view());
  return json{{"exports", exports_document(view)}};
}

Result<json> create_export(const Call& call) {
  SYMNAS_ASSIGN(const ExportRequest r, export_request(call.body));
  return change_records(call, [&](const ClusterView& v) { return plan_export_create(v, r); });
}

Result<json> set_export(const Call& call) {
  SYMNAS_ASSIGN(ExportEdit edit, export_edit(call.body));
  edit.name = call.name();
  return done(call.backends.exports.edit_exports(
      [&](const ClusterView& v) { return plan_export_set(v, edit); }, call.request.mode));
}

Result<json> add_export(const Call& call) {
  SYMNAS_ASSIGN(const std::vector<std::string> vnfses, vnfses_request(call.body));
  return done(call.backends.exports.edit_exports(
      [&](const ClusterView& v) { return plan_export_add(v, call.name(), vnfses); },
      call.request.mode));
}

Result<json> take_export_off(const Call& call) {
  SYMNAS_ASSIGN(const std::vector<std::string> vnfses, vnfses_request(call.body));
  return done(call.backends.exports.remove_export(call.name(), vnfses, call.request.consent,
                                                  call.request.mode));
}

Result<json> remove_export(const Call& call) {
  return done(call.backends.exports.remove_export(call.name(), {}, call.request.consent,
                                                  call.request.mode));
}

}  // namespace

std::vector<Route> export_routes() {
  return {
      {"GET", "/v1/exports", "listExports", Role::kViewer, "", "Exports", "", "The exports.",
       list_exports},
      {"POST", "/v1/exports", "createExport", Role::kAdmin, "Export", "Done", "dry_run",
       "Makes an export that no VNFS serves yet.", create_export},
      {"POST", "/v1/exports/{name}/set", "setExport", Role::kAdmin, "ExportEdit", "Done", "dry_run",
       "Changes an export; answers when all instances serve it so, else the edit is taken back.",
       set_export},
      {"POST", "/v1/exports/{name}/add", "addExport", Role::kAdmin, "VnfsNames", "Done", "dry_run",
       "Has VNFSs serve an export.", add_export},
      {"POST", "/v1/exports/{name}/take-off", "takeExportOff", Role::kAdmin, "VnfsNames", "Done",
       "dry_run yes", "Has VNFSs no longer serve an export.", take_export_off},
      {"DELETE", "/v1/exports/{name}", "removeExport", Role::kAdmin, "", "Done", "dry_run yes",
       "Takes an export off all VNFSs and removes it.", remove_export},
  };
}

}  // namespace symnas::vnfsd::api
