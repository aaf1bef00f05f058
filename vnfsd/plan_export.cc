#include <algorithm>

#include <fmt/format.h>

#include "common/kv/keys.h"
#include "vnfsd/limits.h"
#include "vnfsd/names.h"
#include "vnfsd/net_address.h"
#include "vnfsd/plans.h"

namespace symnas::vnfsd {
namespace {

tl::unexpected<Error> bad(const ExportRequest& request, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("export {}: {}", request.name, why));
}

Status set_options(const ExportRequest& request, records::ExportRecord& record) {
  if (request.access == "rw") {
    record.set_access(records::ACCESS_RW);
  } else if (request.access == "ro") {
    record.set_access(records::ACCESS_RO);
  } else {
    return bad(request, fmt::format("access '{}': must be rw or ro", request.access));
  }
  if (request.squash == "root") {
    record.set_squash(records::SQUASH_ROOT);
  } else if (request.squash == "none") {
    record.set_squash(records::SQUASH_NONE);
  } else if (request.squash == "all") {
    record.set_squash(records::SQUASH_ALL);
  } else {
    return bad(request, fmt::format("squash '{}': must be root, none or all", request.squash));
  }
  return {};
}

Status set_clients(const ExportRequest& request, records::ExportRecord& record) {
  if (request.clients.empty()) {
    return bad(request, "no clients: nobody could mount it (give networks, or '*' for everybody)");
  }
  if (request.clients.size() > kClientsPerExportMax) {
    return bad(request, fmt::format("more than {} clients", kClientsPerExportMax));
  }
  for (const std::string& text : request.clients) {
    SYMNAS_ASSIGN(const std::string client, normalise_client(text));
    if (std::find(record.clients().begin(), record.clients().end(), client) !=
        record.clients().end()) {
      return bad(request, fmt::format("client {}: named twice", client));
    }
    record.add_clients(client);
  }
  return {};
}

}  // namespace

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
  SYMNAS_TRY(set_clients(request, record));
  SYMNAS_TRY(set_options(request, record));

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

Result<Change> plan_export_remove(const ClusterView& view, const std::string& name) {
  SYMNAS_TRY(find(view.exports, "export", name));
  for (const auto& [vnfs_name, vnfs] : view.vnfses) {
    const auto& exports = vnfs.record.exports();
    if (std::find(exports.begin(), exports.end(), name) != exports.end()) {
      return fail(ErrorCode::kBusy,
                  fmt::format("export {}: served by VNFS {} (symnas vnfs stop {} and rm {})", name,
                              vnfs_name, vnfs_name, vnfs_name));
    }
  }
  Change change{fmt::format("export {}: removed", name), {}};
  change.txn.success.push_back(kv::erase(kv::keys::kExports + name));
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
