#include <fmt/core.h>

#include "common/kv/keys.h"
#include "vnfsd/names/names.h"
#include "vnfsd/plans/export_options.h"
#include "vnfsd/plans/levels.h"
#include "vnfsd/plans/limits.h"
#include "vnfsd/plans/plans.h"
#include "vnfsd/records/levels.h"

namespace symnas::vnfsd {

Result<Change> plan_export_create(const ClusterView& view, const ExportRequest& request) {
  SYMNAS_TRY(check_name("export", request.name));
  if (view.exports.contains(request.name)) {
    return fail(ErrorCode::kAlreadyExists, fmt::format("export {}: exists already", request.name));
  }
  SYMNAS_ASSIGN(const auto* filesystem, find(view.filesystems, "fs", request.filesystem));
  if (filesystem->record.removing()) {
    return fail(ErrorCode::kBusy,
                fmt::format("export {}: filesystem {} is being removed (name another)",
                            request.name, request.filesystem));
  }
  records::ExportRecord record;
  record.set_name(request.name);
  record.set_filesystem(request.filesystem);
  SYMNAS_ASSIGN(const std::string path, normalise_export_path(request.path));
  record.set_path(path);
  SYMNAS_TRY(set_export_options(
      {request.name, request.clients, request.access, request.squash, request.anon, request.pseudo,
       request.rules, request.manage_gids, request.sec},
      record));
  SYMNAS_TRY(check_export_level(view, record));

  Change change{
      fmt::format("export {}: created for {} of {}", request.name, path, request.filesystem), {}};
  SYMNAS_ASSIGN(const std::uint64_t id,
                take_from_counter(view, kv::keys::kExportIdCounter, kExportIdMax, change.txn));
  record.set_export_id(static_cast<std::uint32_t>(id));
  change.txn.success.push_back(
      kv::put(kv::keys::kExports + request.name, record.SerializeAsString()));
  // The filesystem may not go meanwhile: fs rm works outside the cluster record's order.
  change.txn.compares.push_back(
      kv::mod_revision_is(kv::keys::kFilesystems + request.filesystem, filesystem->mod_revision));
  return change;
}

Status check_filesystem_create(const ClusterView& view, const fs::FormatOptions& options) {
  const std::string& name = options.name;
  const std::string& volume = options.volume;
  SYMNAS_TRY(check_name("fs", name));
  if (view.filesystems.contains(name)) {
    return fail(ErrorCode::kAlreadyExists, fmt::format("fs {}: exists already", name));
  }
  SYMNAS_TRY(find(view.volumes, "volume", volume));
  for (const auto& [other, filesystem] : view.filesystems) {
    if (filesystem.record.volume() == volume) {
      return fail(
          ErrorCode::kBusy,
          fmt::format("fs {}: volume {} holds filesystem {} (make another volume; one volume "
                      "carries one filesystem)",
                      name, volume, other));
    }
  }
  return {};
}

Result<bool> records_access_times(const ClusterView& view, const std::string& name,
                                  AccessTimes wanted) {
  const Status allowed =
      needs_level(view, level::kAccessTimes, fmt::format("fs {}: --atime relatime", name));
  if (wanted == AccessTimes::kRecorded) SYMNAS_TRY(allowed);
  return wanted != AccessTimes::kOff && allowed.has_value();
}

bool allows_acls_and_xattrs(const ClusterView& view) {
  return needs_level(view, level::kAclsAndXattrs, "").has_value();
}

Result<Change> plan_filesystem_set(const ClusterView& view, const std::string& name,
                                   const FilesystemEdit& edit) {
  SYMNAS_ASSIGN(const auto* filesystem, find(view.filesystems, "fs", name));
  if (filesystem->record.removing())
    return fail(ErrorCode::kBusy, fmt::format("fs {}: is being removed", name));
  fs::records::FilesystemRecord record = filesystem->record;
  std::string what;
  if (edit.access_times) {
    SYMNAS_ASSIGN(const bool recorded, records_access_times(view, name, *edit.access_times));
    record.set_access_times(recorded);
    what += fmt::format("access times {}, ", recorded ? "are recorded" : "are not recorded");
  }
  if (edit.allow_acls_and_xattrs) {
    SYMNAS_TRY(needs_level(view, level::kAclsAndXattrs, fmt::format("fs {}: --acls on", name)));
    record.set_acls_and_xattrs(true);
    what += "ACLs and extended attributes may be set, ";
  }
  Change change;
  change.what =
      fmt::format("fs {}: {}from the next start of each VNFS on (symnas vnfs restart)", name, what);
  const std::string key = kv::keys::kFilesystems + name;
  // fs rm works outside the cluster record's order.
  change.txn.compares.push_back(kv::mod_revision_is(key, filesystem->mod_revision));
  change.txn.success.push_back(kv::put(key, record.SerializeAsString()));
  return change;
}

Status check_filesystem_remove(const ClusterView& view, const std::string& name) {
  SYMNAS_TRY(find(view.filesystems, "fs", name));
  for (const auto& [export_name, exported] : view.exports) {
    if (exported.record.filesystem() == name) {
      return fail(ErrorCode::kBusy, fmt::format("fs {}: exported as {} (symnas export rm {})", name,
                                                export_name, export_name));
    }
  }
  return {};
}

}  // namespace symnas::vnfsd
