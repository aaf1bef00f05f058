// Agent: the changes that touch devices or many records.
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "cvm/lun.h"
#include "cvm/volume.h"
#include "fsal_cluster/schema/filesystem.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/luns/limits.h"
#include "vnfsd/names/names.h"

namespace symnas::vnfsd::daemon {

Result<ClusterView> Agent::view() {
  SYMNAS_TRY(wait_ready());
  return read_view(store_, kStoreDeadlineMs);
}

Result<std::string> Agent::change(const Planner& planner, Mode mode) {
  SYMNAS_TRY(wait_ready());
  return commit(planner, mode);
}

Result<std::string> Agent::import_lun(const api::LunImportRequest& request, Mode mode) {
  const std::scoped_lock admin(admin_mutex_);
  SYMNAS_ASSIGN(const ClusterView before, view());
  SYMNAS_TRY(check_name("lun", request.name));
  if (request.path.empty() || request.path.front() != '/') {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("lun {}: path '{}': not absolute", request.name, request.path));
  }
  // Before its label is written; what the plan wants to know of it is not known yet.
  cvm::records::LunRecord wish;
  wish.set_name(request.name);
  SYMNAS_TRY(plan_lun_import(before, wish, config_.head_name, request.path));
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
      config_.cluster_uuid, request.name, request.path,
      request.force == api::LunImportRequest::Force::kYes ? request.name : "", recorded};
  SYMNAS_ASSIGN(const std::string identification, identification_of(request.name, request.path));
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
      [&](const ClusterView& view) {
        return plan_lun_import(view, lun, config_.head_name, request.path);
      },
      mode);
  if (!done) {
    done.error().message += " [its label has been written: importing it again is harmless]";
    return done;
  }
  const auto now = fresh_view();  // before anybody plans from what the watch has shown
  if (!now) return done;
  if (reservations_) {
    follow_reservations(*now);
    const Status registered =
        reservations_->wait({{identification, request.name}}, kImportRegistersMs);
    if (!registered) log::warn("lun {}: {}", request.name, registered.error().message);
  }
  reconcile_luns(*now);
  return done;
}

Result<std::string> Agent::release_lun(const std::string& name, api::Label label, Mode mode) {
  const std::scoped_lock admin(admin_mutex_);
  SYMNAS_ASSIGN(const ClusterView before, view());
  SYMNAS_ASSIGN(const auto* lun, find(before.luns, "lun", name));
  SYMNAS_TRY(plan_lun_release(before, name));
  if (label == api::Label::kForget) {
    auto done = commit([&](const ClusterView& view) { return plan_lun_release(view, name); }, mode);
    if (!done || mode == Mode::kDryRun) return done;
    luns_.forget(lun->record.uuid());
    return *done + " (its label is left: should it come back, import it with --force)";
  }
  const auto path = luns_.path_of(lun->record.uuid());
  if (!path) {
    return fail(ErrorCode::kNotFound,
                fmt::format("lun {}: {} (its label must be erased; if it is gone for ever: symnas "
                            "lun release {} --forget)",
                            name, path.error().message, name));
  }
  SYMNAS_ASSIGN(const Uuid uuid, cvm::uuid_from_bytes(lun->record.uuid()));
  // No record says that a volume uses it: a volume in its label is a change that was never
  // finished, and would keep the label from being erased.
  if (mode != Mode::kDryRun) SYMNAS_TRY(cvm::assign_lun(*path, config_.cluster_uuid, uuid, Uuid{}));
  const auto done =
      commit([&](const ClusterView& view) { return plan_lun_release(view, name); }, mode);
  if (!done || mode == Mode::kDryRun) return done;
  luns_.forget(lun->record.uuid());
  if (const Status erased = cvm::release_lun(*path, config_.cluster_uuid, uuid); !erased) {
    return fail(erased.error().code,
                fmt::format("{} [the cluster has forgotten it, its label is still there: import it "
                            "again, or with --force, to use it anew]",
                            erased.error().message));
  }
  return done;
}

Status Agent::assign_labels(const ClusterView& view, const std::vector<std::string>& luns,
                            const Uuid& volume) {
  for (const std::string& name : luns) {
    SYMNAS_ASSIGN(const auto* lun, find(view.luns, "lun", name));
    const auto path = luns_.path_of(lun->record.uuid());
    if (!path) {
      return fail(ErrorCode::kNotFound, fmt::format("lun {}: {}", name, path.error().message));
    }
    SYMNAS_ASSIGN(const Uuid uuid, cvm::uuid_from_bytes(lun->record.uuid()));
    // The record says that it is free: a volume in its label is a change that was never finished.
    SYMNAS_TRY(cvm::assign_lun(*path, config_.cluster_uuid, uuid, Uuid{}));
    if (!volume.is_nil()) {
      SYMNAS_TRY(cvm::assign_lun(*path, config_.cluster_uuid, uuid, volume));
    }
  }
  return {};
}

Result<std::string> Agent::use_luns(const VolumeRequest& request, const Uuid& volume, Mode mode,
                                    const Planner& planner) {
  SYMNAS_ASSIGN(const ClusterView before, view());
  SYMNAS_TRY(planner(before));
  if (mode == Mode::kDryRun) return commit(planner, mode);
  Status labelled = assign_labels(before, request.luns, volume);
  if (labelled) {
    auto done = commit(planner, mode);
    if (done || done.error().code == ErrorCode::kUnknownOutcome) return done;
    labelled = tl::unexpected<Error>(done.error());
  }
  if (const Status freed = assign_labels(before, request.luns, Uuid{}); !freed) {
    log::warn("volume {}: labels keep its uuid until their LUNs are used again: {}", request.name,
              freed.error().message);
  }
  return tl::unexpected<Error>(labelled.error());
}

Result<std::string> Agent::create_volume(const VolumeRequest& request, Mode mode) {
  const std::scoped_lock admin(admin_mutex_);
  VolumeRequest r = request;
  r.uuid = Uuid::generate();
  return use_luns(r, r.uuid, mode,
                  [r](const ClusterView& view) { return plan_volume_create(view, r); });
}

Result<std::string> Agent::grow_volume(const VolumeRequest& request, Mode mode) {
  const std::scoped_lock admin(admin_mutex_);
  SYMNAS_ASSIGN(const ClusterView before, view());
  SYMNAS_ASSIGN(const auto* volume, find(before.volumes, "volume", request.name));
  SYMNAS_ASSIGN(const Uuid uuid, cvm::uuid_from_bytes(volume->record.uuid()));
  SYMNAS_TRY(wait_for_heads(request));
  return use_luns(request, uuid, mode,
                  [&](const ClusterView& view) { return plan_volume_grow(view, request); });
}

Status Agent::wait_for_heads(const VolumeRequest& request) {
  Status seen;
  for (std::int64_t waited_ms = 0; waited_ms < kStoreDeadlineMs; waited_ms += kRefreshPollMs) {
    SYMNAS_ASSIGN(const ClusterView now, read_view(store_, kStoreDeadlineMs));
    seen = check_luns_seen(now, request.name, request.luns);
    if (seen || seen.error().code != ErrorCode::kBusy) return seen;
    std::this_thread::sleep_for(std::chrono::milliseconds(kRefreshPollMs));
  }
  return seen;
}

Result<std::string> Agent::remove_volume(const std::string& name, Mode mode) {
  const std::scoped_lock admin(admin_mutex_);
  SYMNAS_ASSIGN(const ClusterView before, view());
  const auto done =
      commit([&](const ClusterView& view) { return plan_volume_remove(view, name); }, mode);
  if (!done || mode == Mode::kDryRun) return done;
  std::vector<std::string> luns;
  for (const auto* lun : luns_of_volume(before, name)) luns.push_back(lun->name());
  if (const Status freed = assign_labels(before, luns, Uuid{}); !freed) {
    log::warn("volume {}: labels keep its uuid until their LUNs are used again: {}", name,
              freed.error().message);
  }
  return done;
}

Result<std::string> Agent::create_filesystem(const fs::FormatOptions& options, Mode mode) {
  const std::scoped_lock admin(admin_mutex_);
  SYMNAS_ASSIGN(const ClusterView before, view());
  SYMNAS_TRY(check_filesystem_create(before, options));
  if (mode == Mode::kDryRun) {
    return fmt::format("fs {}: would be created on volume {}", options.name, options.volume);
  }
  fs::FormatOptions format = options;
  const auto& volume = before.volumes.at(options.volume).record;
  format.group_blocks = fs::format_group_blocks(cvm::volume_size_bytes(volume));
  SYMNAS_TRY(fs::format_filesystem(store_, clock_, format));
  std::string what = fmt::format("fs {}: created on volume {}", options.name, options.volume);
  log::info("{}", what);
  return what;
}

Result<std::string> Agent::remove_filesystem(const std::string& name, Mode mode) {
  const std::scoped_lock admin(admin_mutex_);
  SYMNAS_ASSIGN(const ClusterView before, view());
  SYMNAS_TRY(check_filesystem_remove(before, name));
  if (mode == Mode::kDryRun) return fmt::format("fs {}: would be removed", name);
  SYMNAS_TRY(fs::remove_filesystem(store_, name, {unchanged_since(before, kv::keys::kExports)}));
  std::string what = fmt::format("fs {}: removed", name);
  log::info("{}", what);
  return what;
}

nlohmann::json Agent::local_status() {
  using nlohmann::json;
  json document = {{"head", config_.head_name}, {"instances", json::object()}};
  json members = json::array();
  for (const kv::MemberStatus& member : store_.status({})) {
    members.push_back({{"endpoint", member.endpoint},
                       {"reachable", member.reachable},
                       {"leader", member.leader},
                       {"no_space", member.no_space_alarm},
                       {"db_size_bytes", member.db_size_bytes},
                       {"db_in_use_bytes", member.db_in_use_bytes},
                       {"revision", member.revision.value()},
                       {"error", member.error}});
  }
  document["etcd"] = members;
  document["quota"] = {{"level", kv::name_of(quota_.level())},
                       {"quota_bytes", quota_.quota_bytes()},
                       {"in_use_permille", quota_.in_use_permille()}};
  std::map<std::string, std::string> ill;  // by name
  const auto ill_uuids = canaries_.ill();
  for (const instance::LunPath& lun : luns_.paths()) {
    const auto found = ill_uuids.find(lun.uuid);
    if (found != ill_uuids.end()) ill[lun.name] = found->second;
  }
  json luns = json::array();
  for (const LunSight& lun : luns_.sights()) {
    const auto found = ill.find(lun.name);
    const std::string& error = lun.error.empty() && found != ill.end() ? found->second : lun.error;
    luns.push_back({{"name", lun.name}, {"path", lun.path}, {"error", error}});
  }
  document["luns"] = luns;
  document["networks"] = json::array();
  document["failover"] = {{"error", why_no_failover()}};
  if (reservations_) document["reservations"] = {{"error", reservations_->error()}};
  const std::scoped_lock lock(mutex_);
  document["fence_agent"] = {{"error", fence_agent_error_}};
  for (const auto& [name, device] : devices_by_network_) {
    const auto why = ill_networks_.find(name);
    document["networks"].push_back({{"name", name},
                                    {"device", device},
                                    {"error", why == ill_networks_.end() ? "" : why->second}});
  }
  document["silent"] = json::array();
  for (const auto& [head, why] : silent_told_) {
    if (!why.empty()) document["silent"].push_back({{"head", head}, {"why", why}});
  }
  document["stalls"] = json::array();
  for (const Stall& stall : stalls_) document["stalls"].push_back(describe(stall));
  for (const auto& [name, supervisor] : supervisors_) {
    const instance::InstanceSnapshot s = supervisor->snapshot();
    document["instances"][name] = {{"state", s.state},       {"pid", s.pid},
                                   {"epoch", s.epoch},       {"since_ns", s.since_ns},
                                   {"restarts", s.restarts}, {"last_exit", s.last_exit},
                                   {"error", s.error},       {"vips_taken", s.vips_taken}};
  }
  document["arrivals"] = json::array();
  for (const auto& [name, causes] : arrivals_) {
    for (const auto& [cause, seen] : causes) {
      document["arrivals"].push_back({{"vnfs", name},
                                      {"cause", cause},
                                      {"count", seen.count},
                                      {"timed", seen.timed},
                                      {"blackout_ms", seen.blackout_ms}});
    }
  }
  return document;
}

}  // namespace symnas::vnfsd::daemon
