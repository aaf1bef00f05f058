// LUNs, volumes, filesystems, locks.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/api/body.h"
#include "vnfsd/api/documents.h"
#include "vnfsd/api/locks.h"
#include "vnfsd/api/routes.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

Result<json> list_luns(const Call& call) {
  SYMNAS_ASSIGN(const ClusterView view, call.backends.records.view());
  return json{{"luns", luns_document(view)}};
}

Result<json> import_luns(const Call& call) {
  SYMNAS_ASSIGN(const std::vector<LunImportRequest> requests, lun_import_requests(call.body));
  json whats = json::array();
  for (const LunImportRequest& request : requests) {
    Result<std::string> what = call.backends.luns.import_lun(request, call.request.mode);
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

Result<json> list_scrubs(const Call& call) { return call.backends.scrub.scrubs(); }

Result<json> begin_scrub(const Call& call) {
  SYMNAS_ASSIGN(ScrubRequest r, scrub_request(call.body));
  r.lun = call.name();
  return done(call.backends.scrub.begin_scrub(r));
}

Result<json> stop_scrub(const Call& call) {
  return done(call.backends.scrub.stop_scrub(call.name()));
}

Result<json> release_lun(const Call& call) {
  const auto forget = call.request.query.find("forget");
  const bool is_gone = forget != call.request.query.end() && forget->second == "true";
  return done(call.backends.luns.release_lun(call.name(), is_gone ? Label::kForget : Label::kErase,
                                             call.request.mode));
}

Result<json> scan_luns(const Call& call) {
  SYMNAS_ASSIGN(const std::vector<std::string> paths, lun_scan_request(call.body));
  return call.backends.luns.scan_luns(paths);
}

Result<json> list_volumes(const Call& call) {
  SYMNAS_ASSIGN(const ClusterView view, call.backends.records.view());
  return json{{"volumes", volumes_document(view)}};
}

Result<json> create_volume(const Call& call) {
  SYMNAS_ASSIGN(const VolumeRequest r, volume_request(call.body));
  return done(call.backends.volumes.create_volume(r, call.request.mode));
}

Result<json> grow_volume(const Call& call) {
  SYMNAS_ASSIGN(VolumeRequest r, grow_request(call.body));
  r.name = call.name();
  return done(call.backends.volumes.grow_volume(r, call.request.mode));
}

Result<json> remove_volume(const Call& call) {
  return done(call.backends.volumes.remove_volume(call.name(), call.request.mode));
}

Result<json> list_filesystems(const Call& call) {
  SYMNAS_ASSIGN(const ClusterView view, call.backends.records.view());
  return json{{"filesystems", filesystems_document(view)}};
}

Result<json> create_filesystem(const Call& call) {
  SYMNAS_ASSIGN(const FilesystemRequest r, filesystem_request(call.body));
  return done(call.backends.filesystems.create_filesystem(r, call.request.mode));
}

Result<json> set_filesystem(const Call& call) {
  SYMNAS_ASSIGN(const FilesystemEdit edit, filesystem_edit(call.body));
  return change_records(
      call, [&](const ClusterView& v) { return plan_filesystem_set(v, call.name(), edit); });
}

Result<json> check_filesystem(const Call& call) {
  return call.backends.inspection.check_filesystem(call.name(), call.progress);
}

Result<json> dump_inode(const Call& call) {
  SYMNAS_ASSIGN(const DumpRequest r, dump_request(call.body));
  return call.backends.inspection.dump_inode(call.name(), r);
}

Result<json> plan_repair(const Call& call) {
  return call.backends.repair.plan_repair(call.name(), call.progress);
}

Result<json> repair(const Call& call) {
  SYMNAS_ASSIGN(const std::string plan, repair_request(call.body));
  return call.backends.repair.repair(call.name(), plan, call.progress);
}

Result<json> list_repairs(const Call& call) { return call.backends.repair.repairs(call.name()); }

Result<json> remove_filesystem(const Call& call) {
  return done(call.backends.filesystems.remove_filesystem(call.name(), call.request.mode));
}

Result<json> list_locks(const Call& call) {
  SYMNAS_ASSIGN(const LockFilter filter, lock_filter(call.request.query));
  return call.backends.locks.locks(filter);
}

Result<json> clear_locks(const Call& call) {
  SYMNAS_ASSIGN(const LockFilter filter, lock_filter(call.request.query));
  return done(call.backends.locks.clear_locks(filter, call.request.mode));
}

}  // namespace

std::vector<Route> storage_routes() {
  return {
      {"GET", "/v1/luns", "listLuns", Role::kViewer, "", "Luns", "", "The LUNs.", list_luns},
      {"POST", "/v1/luns", "importLuns", Role::kAdmin, "LunImport", "Done", "dry_run",
       "Labels devices and records them as LUNs; stops at the first failure.", import_luns},
      {"DELETE", "/v1/luns/{name}", "releaseLun", Role::kAdmin, "", "Done", "dry_run forget",
       "Erases the label of a LUN of no volume and forgets it.", release_lun},
      {"GET", "/v1/scrubs", "listScrubs", Role::kViewer, "", "Scrubs", "",
       "How far the scrubs of LUNs have come, and what they have found.", list_scrubs},
      {"POST", "/v1/luns/{name}/scrub", "scrubLun", Role::kOperator, "ScrubChoice", "Done", "",
       "Reads a LUN slowly in the background; one that was stopped goes on.", begin_scrub},
      {"POST", "/v1/luns/{name}/scrub-stop", "stopScrub", Role::kOperator, "", "Done", "",
       "Stops the scrub of a LUN.", stop_scrub},
      {"POST", "/v1/lun-scan", "scanLuns", Role::kAdmin, "LunScan", "Devices", "",
       "What devices hold that this head could import. Reads devices: seconds.", scan_luns},
      {"GET", "/v1/volumes", "listVolumes", Role::kViewer, "", "Volumes", "", "The volumes.",
       list_volumes},
      {"POST", "/v1/volumes", "createVolume", Role::kAdmin, "Volume", "Done", "dry_run",
       "Stripes LUNs together to a volume.", create_volume},
      {"POST", "/v1/volumes/{name}/grow", "growVolume", Role::kAdmin, "VolumeGrowth", "Done",
       "dry_run", "Adds LUNs to a volume.", grow_volume},
      {"DELETE", "/v1/volumes/{name}", "removeVolume", Role::kAdmin, "", "Done", "dry_run",
       "Removes a volume without filesystems.", remove_volume},
      {"GET", "/v1/filesystems", "listFilesystems", Role::kViewer, "", "Filesystems", "",
       "The filesystems.", list_filesystems},
      {"POST", "/v1/filesystems", "createFilesystem", Role::kAdmin, "Filesystem", "Done", "dry_run",
       "Makes a filesystem on a volume.", create_filesystem},
      {"POST", "/v1/filesystems/{name}/set", "setFilesystem", Role::kAdmin, "FilesystemEdit",
       "Done", "dry_run", "Changes a filesystem, from the next start of each VNFS on.",
       set_filesystem},
      {"POST", "/v1/filesystems/{name}/check", "checkFilesystem", Role::kOperator, "",
       "CheckReport", "async",
       "Checks all records of a filesystem: seconds to minutes. Findings are no error.",
       check_filesystem},
      {"POST", "/v1/filesystems/{name}/repair-plan", "planRepair", Role::kOperator, "",
       "RepairPlan", "async",
       "Checks a filesystem and says what a repair would do, and what it would not, and why.",
       plan_repair},
      {"POST", "/v1/filesystems/{name}/repair", "repairFilesystem", Role::kAdmin, "RepairChoice",
       "RepairReport", "async",
       "Carries out the steps of a plan that are due; what has changed since is left alone.",
       repair},
      {"GET", "/v1/filesystems/{name}/repairs", "listRepairs", Role::kOperator, "", "Repairs", "",
       "What was repaired, with what was there before.", list_repairs},
      {"POST", "/v1/filesystems/{name}/dump", "dumpInode", Role::kOperator, "InodeChoice", "Inode",
       "", "All that is recorded about an inode.", dump_inode},
      {"DELETE", "/v1/filesystems/{name}", "removeFilesystem", Role::kAdmin, "", "Done", "dry_run",
       "Removes a filesystem without exports, and its records.", remove_filesystem},
      {"GET", "/v1/locks", "listLocks", Role::kViewer, "", "Locks",
       "filesystem vnfs client path ino", "Recorded byte-range locks that match all filters.",
       list_locks},
      {"DELETE", "/v1/locks", "clearLocks", Role::kAdmin, "", "Done",
       "dry_run filesystem vnfs client path ino",
       "Takes locks away from their owners, who are not told. At least one filter is given.",
       clear_locks},
  };
}

}  // namespace symnas::vnfsd::api
