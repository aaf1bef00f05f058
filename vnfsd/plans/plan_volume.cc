#include <algorithm>

#include <fmt/core.h>

#include "common/kv/keys.h"
#include "common/kv/scrub_keys.h"
#include "cvm/volume.h"
#include "vnfsd/names/names.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd {
namespace {

using cvm::records::LunRecord;
using cvm::records::VolumeRecord;

Result<std::vector<LunRecord>> named_luns(const ClusterView& view, const VolumeRequest& request) {
  if (request.luns.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("volume {}: no LUNs given (--luns LUN0,LUN1,...)", request.name));
  }
  std::vector<LunRecord> luns;
  for (const std::string& name : request.luns) {
    SYMNAS_ASSIGN(const auto* lun, find(view.luns, "lun", name));
    luns.push_back(lun->record);
  }
  return luns;
}

void put_volume(const VolumeRecord& volume, std::vector<LunRecord> luns, Change& change) {
  change.txn.success.push_back(
      kv::put(kv::keys::kVolumes + volume.name(), volume.SerializeAsString()));
  for (LunRecord& lun : luns) {
    lun.set_volume(volume.name());
    change.txn.success.push_back(kv::put(kv::keys::kLuns + lun.name(), lun.SerializeAsString()));
  }
}

// A fence of the LUNs proves something of those that it has named: their set, and what an instance
// of the fenced head might reach, stay as they are until its end records are written.
Status keep_from_fences(const ClusterView& view, const std::string& object, Change& change) {
  for (const auto& [head, fence] : view.fences) {
    const records::FenceState state = fence.record.state();
    if (state != records::FENCE_RUNNING && state != records::FENCE_PROVEN) continue;
    return fail(ErrorCode::kBusy,
                fmt::format("{}: {} is fencing head {}, which concerns the LUNs that there are now "
                            "(repeat this when symnas status shows the fence as done or failed; "
                            "symnas head fence {} --yes goes on with one that stands still)",
                            object, fence.record.by(), head, head));
  }
  change.txn.compares.push_back(unchanged_since(view, kv::keys::kFences));
  return {};
}

}  // namespace

Result<Change> plan_lun_import(const ClusterView& view, const LunRecord& lun,
                               const std::string& head, const std::string& path) {
  if (view.luns.contains(lun.name())) {
    return fail(ErrorCode::kAlreadyExists, fmt::format("lun {}: exists already", lun.name()));
  }
  for (const auto& [name, other] : view.luns) {
    if (other.record.uuid() == lun.uuid()) {
      return fail(ErrorCode::kAlreadyExists,
                  fmt::format("lun {}: {} is imported as {} already", lun.name(), path, name));
    }
    if (!lun.identification().empty() && other.record.identification() == lun.identification()) {
      return fail(ErrorCode::kAlreadyExists,
                  fmt::format("lun {}: {} is {}, which is imported as {} already", lun.name(), path,
                              lun.identification(), name));
    }
  }
  Change change{fmt::format("lun {}: imported from {}", lun.name(), path), {}};
  SYMNAS_TRY(keep_from_fences(view, "lun " + lun.name(), change));
  change.txn.success.push_back(kv::put(kv::keys::kLuns + lun.name(), lun.SerializeAsString()));
  const auto it = view.heads.find(head);
  if (it != view.heads.end()) {
    records::HeadRecord record = it->second.record;
    bool known = false;
    for (const std::string& other : record.lun_paths()) known = known || other == path;
    if (!known) {
      record.add_lun_paths(path);
      change.txn.compares.push_back(
          kv::mod_revision_is(kv::keys::kHeads + head, it->second.mod_revision));
      change.txn.success.push_back(kv::put(kv::keys::kHeads + head, record.SerializeAsString()));
    }
  }
  return change;
}

Result<Change> plan_lun_release(const ClusterView& view, const std::string& name) {
  SYMNAS_ASSIGN(const auto* lun, find(view.luns, "lun", name));
  if (!lun->record.volume().empty()) {
    return fail(ErrorCode::kBusy, fmt::format("lun {}: used by volume {} (symnas volume rm {})",
                                              name, lun->record.volume(), lun->record.volume()));
  }
  Change change{fmt::format("lun {}: released", name), {}};
  SYMNAS_TRY(keep_from_fences(view, "lun " + name, change));
  change.txn.success.push_back(kv::erase(kv::keys::kLuns + name));
  change.txn.success.push_back(kv::erase(kv::keys::kScrubs + name));
  return change;
}

Result<Change> plan_volume_create(const ClusterView& view, const VolumeRequest& request) {
  SYMNAS_TRY(check_name("volume", request.name));
  if (view.volumes.contains(request.name)) {
    return fail(ErrorCode::kAlreadyExists, fmt::format("volume {}: exists already", request.name));
  }
  SYMNAS_TRY(cvm::check_stripe_unit(request.stripe_unit_bytes));
  SYMNAS_ASSIGN(const std::vector<LunRecord> luns, named_luns(view, request));
  SYMNAS_ASSIGN(const VolumeRecord volume,
                cvm::create_volume(request.name, request.uuid, luns,
                                   static_cast<std::uint32_t>(request.stripe_unit_bytes)));
  Change change{fmt::format("volume {}: created over {} LUNs", request.name, luns.size()), {}};
  put_volume(volume, luns, change);
  return change;
}

Status check_luns_seen(const ClusterView& view, const std::string& volume,
                       const std::vector<std::string>& luns) {
  for (const auto& [vnfs_name, owner] : view.owners) {
    const auto vnfs = view.vnfses.find(vnfs_name);
    if (vnfs == view.vnfses.end()) continue;
    const std::vector<std::string> used = volumes_of_vnfs(view, vnfs->second.record);
    if (std::find(used.begin(), used.end(), volume) == used.end()) continue;
    SYMNAS_ASSIGN(const auto* head, find(view.heads, "head", owner.record.head()));
    for (const std::string& name : luns) {
      SYMNAS_ASSIGN(const auto* lun, find(view.luns, "lun", name));
      const auto& seen = head->record.luns();
      if (std::find(seen.begin(), seen.end(), lun->record.uuid()) != seen.end()) continue;
      return fail(
          ErrorCode::kBusy,
          fmt::format("volume {}: head {} serves it with VNFS {} and does not see LUN {} yet "
                      "(symnas status on {} says why; then repeat)",
                      volume, owner.record.head(), vnfs_name, name, owner.record.head()));
    }
  }
  return {};
}

Result<Change> plan_volume_grow(const ClusterView& view, const VolumeRequest& request) {
  SYMNAS_ASSIGN(const auto* volume, find(view.volumes, "volume", request.name));
  SYMNAS_ASSIGN(const std::vector<LunRecord> added, named_luns(view, request));
  SYMNAS_TRY(check_luns_seen(view, request.name, request.luns));
  std::vector<LunRecord> present;
  for (const LunRecord* lun : luns_of_volume(view, request.name)) present.push_back(*lun);
  SYMNAS_ASSIGN(const VolumeRecord grown, cvm::grow_volume(volume->record, present, added));
  Change change{fmt::format("volume {}: grown by {} LUNs", request.name, added.size()), {}};
  SYMNAS_TRY(keep_from_fences(view, "volume " + request.name, change));
  put_volume(grown, added, change);
  // Heads say what they see outside the cluster record's order, and so do claims.
  change.txn.compares.push_back(unchanged_since(view, kv::keys::kHeads));
  change.txn.compares.push_back(unchanged_since(view, kv::keys::kOwners));
  return change;
}

Result<Change> plan_volume_remove(const ClusterView& view, const std::string& name) {
  SYMNAS_TRY(find(view.volumes, "volume", name));
  for (const auto& [fs_name, filesystem] : view.filesystems) {
    if (filesystem.record.volume() == name) {
      return fail(ErrorCode::kBusy, fmt::format("volume {}: holds filesystem {} (symnas fs rm {})",
                                                name, fs_name, fs_name));
    }
  }
  Change change{fmt::format("volume {}: removed", name), {}};
  // Filesystems are made outside the cluster record's order.
  change.txn.compares.push_back(unchanged_since(view, kv::keys::kFilesystems));
  change.txn.success.push_back(kv::erase(kv::keys::kVolumes + name));
  for (const auto& [lun_name, lun] : view.luns) {
    if (lun.record.volume() != name) continue;
    LunRecord freed = lun.record;
    freed.clear_volume();
    change.txn.success.push_back(kv::put(kv::keys::kLuns + lun_name, freed.SerializeAsString()));
  }
  return change;
}

}  // namespace symnas::vnfsd
