#include "vnfsd/daemon/admin/storage_admin.h"

#include <chrono>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "cvm/lun.h"
#include "cvm/volume.h"
#include "fsal_cluster/schema/filesystem.h"
#include "vnfsd/api/lun_scan.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/journal/commit.h"
#include "vnfsd/daemon/luns/limits.h"
#include "vnfsd/names/names.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {

Result<std::string> StorageAdmin::import_lun(const api::LunImportRequest& request, Mode mode) {
  const MutexLock admin(admin_mutex_);
  SYMNAS_ASSIGN(const ClusterView before, read_when_ready(head_, reader_));
  SYMNAS_TRY(check_name("lun", request.name));
  if (request.path.empty() || request.path.front() != '/') {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("lun {}: path '{}': not absolute", request.name, request.path));
  }
  // Before its label is written; what the plan wants to know of it is not known yet.
  cvm::records::LunRecord wish;
  wish.set_name(request.name);
  SYMNAS_TRY(plan_lun_import(before, wish, head_.config.head_name, request.path));
  if (mode == Mode::kDryRun) {
    SYMNAS_TRY(cvm::LunDevice::open(request.path, cvm::Access::kRead));
    return fmt::format("lun {}: would be imported from {}", request.name, request.path);
  }
  std::vector<Uuid> recorded;
  for (const auto& [name, lun] : before.luns) {
    SYMNAS_ASSIGN(const Uuid uuid, cvm::uuid_from_bytes(lun.record.uuid()));
    recorded.push_back(uuid);
  }
  const cvm::LunImport import{
      head_.config.cluster_uuid, request.name, request.path,
      request.force == api::LunImportRequest::Force::kYes ? request.name : "", recorded};
  SYMNAS_ASSIGN(const std::string identification,
                keeper_.registrations().identification_of(request.name, request.path));
  auto imported = cvm::import_lun(import);
  if (!imported) {
    if (imported.error().code == ErrorCode::kFenced) {
      imported.error().message +=
          " (it is reserved by others: symnas-fence keys shows by whom, sg_persist --clear frees "
          "it)";
    }
    return tl::unexpected<Error>(imported.error());
  }
  cvm::records::LunRecord lun = std::move(*imported);
  lun.set_identification(identification);
  auto done = commit(
      head_, events_,
      [&](const ClusterView& view) {
        return plan_lun_import(view, lun, head_.config.head_name, request.path);
      },
      mode);
  if (!done) {
    done.error().message += " [its label has been written: importing it again is harmless]";
    return done;
  }
  const auto now = reader_.fresh();  // before anybody plans from what the watch has shown
  if (!now) return done;
  if (Reservations* reservations = keeper_.registrations().reservations()) {
    keeper_.follow_registrations(*now);
    const Status registered =
        reservations->wait({{identification, request.name}}, kImportRegistersMs);
    if (!registered) log::warn("lun {}: {}", request.name, registered.error().message);
  }
  keeper_.look(*now, found_);
  return done;
}

Result<std::string> StorageAdmin::release_lun(const std::string& name, api::Label label,
                                              Mode mode) {
  const MutexLock admin(admin_mutex_);
  SYMNAS_ASSIGN(const ClusterView before, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(const auto* lun, find(before.luns, "lun", name));
  SYMNAS_TRY(plan_lun_release(before, name));
  if (label == api::Label::kForget) {
    auto done = commit(
        head_, events_, [&](const ClusterView& view) { return plan_lun_release(view, name); },
        mode);
    if (!done || mode == Mode::kDryRun) return done;
    keeper_.open_luns().forget(lun->record.uuid());
    return *done + " (its label is left: should it come back, import it with --force)";
  }
  const auto path = keeper_.open_luns().path_of(lun->record.uuid());
  if (!path) {
    return fail(ErrorCode::kNotFound,
                fmt::format("lun {}: {} (its label must be erased; if it is gone for ever: symnas "
                            "lun release {} --forget)",
                            name, path.error().message, name));
  }
  SYMNAS_ASSIGN(const Uuid uuid, cvm::uuid_from_bytes(lun->record.uuid()));
  // No record says that a volume uses it: a volume in its label is a change that was never
  // finished, and would keep the label from being erased.
  if (mode != Mode::kDryRun)
    SYMNAS_TRY(cvm::assign_lun(*path, head_.config.cluster_uuid, uuid, Uuid{}));
  const auto done = commit(
      head_, events_, [&](const ClusterView& view) { return plan_lun_release(view, name); }, mode);
  if (!done || mode == Mode::kDryRun) return done;
  keeper_.open_luns().forget(lun->record.uuid());
  if (const Status erased = cvm::release_lun(*path, head_.config.cluster_uuid, uuid); !erased) {
    return fail(erased.error().code,
                fmt::format("{} [the cluster has forgotten it, its label is still there: import it "
                            "again, or with --force, to use it anew]",
                            erased.error().message));
  }
  return done;
}

Result<nlohmann::json> StorageAdmin::scan_luns(const std::vector<std::string>& paths) {
  SYMNAS_ASSIGN(const ClusterView view, read_when_ready(head_, reader_));
  if (paths.size() > kScanPathsMax) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("lun scan: {} paths, the most is {}", paths.size(), kScanPathsMax));
  }
  for (const std::string& path : paths) {
    if (!path.empty() && path.front() == '/') continue;
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("lun scan: path '{}': not absolute", path));
  }
  const bool named = !paths.empty();
  SYMNAS_ASSIGN(const std::vector<cvm::SurveyedDevice> devices,
                scan_.scan(named ? paths : keeper_.candidates(view),
                           named ? DeviceScan::Asked::kNamed : DeviceScan::Asked::kConfigured));
  return api::lun_scan_document(view, devices);
}

Status StorageAdmin::assign_labels(const ClusterView& view, const std::vector<std::string>& luns,
                                   const Uuid& volume) {
  for (const std::string& name : luns) {
    SYMNAS_ASSIGN(const auto* lun, find(view.luns, "lun", name));
    const auto path = keeper_.open_luns().path_of(lun->record.uuid());
    if (!path) {
      return fail(ErrorCode::kNotFound, fmt::format("lun {}: {}", name, path.error().message));
    }
    SYMNAS_ASSIGN(const Uuid uuid, cvm::uuid_from_bytes(lun->record.uuid()));
    // The record says that it is free: a volume in its label is a change that was never finished.
    SYMNAS_TRY(cvm::assign_lun(*path, head_.config.cluster_uuid, uuid, Uuid{}));
    if (!volume.is_nil()) {
      SYMNAS_TRY(cvm::assign_lun(*path, head_.config.cluster_uuid, uuid, volume));
    }
  }
  return {};
}

Result<std::string> StorageAdmin::use_luns(const VolumeRequest& request, const Uuid& volume,
                                           Mode mode, const Planner& planner) {
  SYMNAS_ASSIGN(const ClusterView before, read_when_ready(head_, reader_));
  SYMNAS_TRY(planner(before));
  if (mode == Mode::kDryRun) return commit(head_, events_, planner, mode);
  Status labelled = assign_labels(before, request.luns, volume);
  if (labelled) {
    auto done = commit(head_, events_, planner, mode);
    if (done || done.error().code == ErrorCode::kUnknownOutcome) return done;
    labelled = tl::unexpected<Error>(done.error());
  }
  if (const Status freed = assign_labels(before, request.luns, Uuid{}); !freed) {
    log::warn("volume {}: labels keep its uuid until their LUNs are used again: {}", request.name,
              freed.error().message);
  }
  return tl::unexpected<Error>(labelled.error());
}

Result<std::string> StorageAdmin::create_volume(const VolumeRequest& request, Mode mode) {
  const MutexLock admin(admin_mutex_);
  VolumeRequest r = request;
  r.uuid = Uuid::generate();
  return use_luns(r, r.uuid, mode,
                  [r](const ClusterView& view) { return plan_volume_create(view, r); });
}

Result<std::string> StorageAdmin::grow_volume(const VolumeRequest& request, Mode mode) {
  const MutexLock admin(admin_mutex_);
  SYMNAS_ASSIGN(const ClusterView before, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(const auto* volume, find(before.volumes, "volume", request.name));
  SYMNAS_ASSIGN(const Uuid uuid, cvm::uuid_from_bytes(volume->record.uuid()));
  SYMNAS_TRY(wait_for_heads(request));
  return use_luns(request, uuid, mode,
                  [&](const ClusterView& view) { return plan_volume_grow(view, request); });
}

Status StorageAdmin::wait_for_heads(const VolumeRequest& request) {
  Status seen;
  for (std::int64_t waited_ms = 0; waited_ms < kStoreDeadlineMs; waited_ms += kRefreshPollMs) {
    SYMNAS_ASSIGN(const ClusterView now, read_view(head_.store, kStoreDeadlineMs));
    seen = check_luns_seen(now, request.name, request.luns);
    if (seen || seen.error().code != ErrorCode::kBusy) return seen;
    std::this_thread::sleep_for(std::chrono::milliseconds(kRefreshPollMs));
  }
  return seen;
}

Result<std::string> StorageAdmin::remove_volume(const std::string& name, Mode mode) {
  const MutexLock admin(admin_mutex_);
  SYMNAS_ASSIGN(const ClusterView before, read_when_ready(head_, reader_));
  const auto done = commit(
      head_, events_, [&](const ClusterView& view) { return plan_volume_remove(view, name); },
      mode);
  if (!done || mode == Mode::kDryRun) return done;
  std::vector<std::string> luns;
  for (const auto* lun : luns_of_volume(before, name)) luns.push_back(lun->name());
  if (const Status freed = assign_labels(before, luns, Uuid{}); !freed) {
    log::warn("volume {}: labels keep its uuid until their LUNs are used again: {}", name,
              freed.error().message);
  }
  return done;
}

Result<std::string> StorageAdmin::create_filesystem(const FilesystemRequest& request, Mode mode) {
  const fs::FormatOptions& options = request.format;
  const MutexLock admin(admin_mutex_);
  SYMNAS_ASSIGN(const ClusterView before, read_when_ready(head_, reader_));
  SYMNAS_TRY(check_filesystem_create(before, options));
  SYMNAS_ASSIGN(const bool access_times,
                records_access_times(before, options.name, request.access_times));
  if (mode == Mode::kDryRun) {
    return fmt::format("fs {}: would be created on volume {}", options.name, options.volume);
  }
  fs::FormatOptions format = options;
  format.access_times = access_times;
  format.acls_and_xattrs = allows_acls_and_xattrs(before);
  const auto& volume = before.volumes.at(options.volume).record;
  format.group_blocks = fs::format_group_blocks(cvm::volume_size_bytes(volume));
  SYMNAS_TRY(fs::format_filesystem(head_.store, head_.clock, format));
  std::string what = fmt::format("fs {}: created on volume {}", options.name, options.volume);
  log::info("{}", what);
  return what;
}

Result<std::string> StorageAdmin::remove_filesystem(const std::string& name, Mode mode) {
  const MutexLock admin(admin_mutex_);
  SYMNAS_ASSIGN(const ClusterView before, read_when_ready(head_, reader_));
  SYMNAS_TRY(check_filesystem_remove(before, name));
  if (mode == Mode::kDryRun) return fmt::format("fs {}: would be removed", name);
  SYMNAS_TRY(
      fs::remove_filesystem(head_.store, name, {unchanged_since(before, kv::keys::kExports)}));
  std::string what = fmt::format("fs {}: removed", name);
  log::info("{}", what);
  return what;
}

}  // namespace symnas::vnfsd::daemon
