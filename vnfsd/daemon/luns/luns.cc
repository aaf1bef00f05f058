#include "vnfsd/daemon/luns/luns.h"

#include <fcntl.h>

#include <algorithm>

#include <fmt/core.h>

#include "common/base/log.h"
#include "cvm/lun.h"
#include "cvm/ofd_lock.h"
#include "cvm/volume.h"

namespace symnas::vnfsd::daemon {

bool LunSet::scan(const ClusterView& view, const std::vector<std::string>& candidates) {
  std::map<std::string, std::string> paths;  // by uuid bytes
  auto scanned = cvm::scan_luns(cluster_, candidates);
  if (!scanned) {
    log::error("LUNs: {}", scanned.error().message);
    return false;
  }
  for (const cvm::FoundLun& found : scanned->found) {
    paths[cvm::uuid_to_bytes(found.label.lun)] = found.path;
  }
  bool changed = false;
  std::vector<LunSight> sights;
  const MutexLock lock(mutex_);
  std::erase_if(open_, [&](const auto& entry) {
    for (const auto& [name, lun] : view.luns) {
      if (lun.record.uuid() == entry.first) return false;
    }
    changed = true;
    return true;
  });
  std::erase_if(open_, [&](const auto& entry) {
    if (entry.second.device.current()) return false;
    log::warn("lun {}: {} is not what was opened any more: looking for it anew", entry.second.name,
              entry.second.device.path());
    changed = true;
    return true;
  });
  for (const auto& [name, lun] : view.luns) {
    LunSight sight{name, "", ""};
    const auto it = open_.find(lun.record.uuid());
    const auto path = paths.find(lun.record.uuid());
    if (it != open_.end()) {
      sight.path = it->second.device.path();
    } else if (path == paths.end()) {
      sight.error = "no device with its label is visible on this head (lun_paths in vnfsd.toml)";
      for (const cvm::ScanProblem& problem : scanned->problems) {
        sight.error += fmt::format("; {}", problem.error.message);
      }
    } else if (auto device = cvm::LunDevice::open(path->second, cvm::Access::kWrite); !device) {
      sight.error = device.error().message;
    } else {
      sight.path = device->path();
      log::info("lun {}: open as {}", name, sight.path);
      open_.emplace(lun.record.uuid(), Open{name, std::move(*device)});
      changed = true;
    }
    if (!sight.error.empty()) log::warn("lun {}: {}", name, sight.error);
    sights.push_back(std::move(sight));
  }
  sights_ = std::move(sights);
  return changed;
}

bool LunSet::complete(const ClusterView& view) const {
  const MutexLock lock(mutex_);
  return open_.size() == view.luns.size() &&
         std::all_of(view.luns.begin(), view.luns.end(), [&](const auto& lun) REQUIRES(mutex_) {
           const auto it = open_.find(lun.second.record.uuid());
           return it != open_.end() && it->second.device.current();
         });
}

std::vector<instance::LunPath> LunSet::paths() const {
  std::vector<instance::LunPath> paths;
  {
    const MutexLock lock(mutex_);
    for (const auto& [uuid, open] : open_) {
      const cvm::LunNode& node = open.device.node();
      paths.push_back({open.name, cvm::uuid_from_bytes(uuid)->to_string(), node.path,
                       node.lock_device, node.lock_inode});
    }
  }
  std::sort(paths.begin(), paths.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return paths;
}

std::vector<LunSight> LunSet::sights() const {
  const MutexLock lock(mutex_);
  return sights_;
}

Result<std::string> LunSet::path_of(const std::string& lun_uuid_bytes) const {
  const MutexLock lock(mutex_);
  const auto it = open_.find(lun_uuid_bytes);
  if (it != open_.end()) return it->second.device.path();
  return fail(ErrorCode::kNotFound, "is not visible on this head (lun_paths in vnfsd.toml)");
}

void LunSet::forget(const std::string& lun_uuid_bytes) {
  const MutexLock lock(mutex_);
  open_.erase(lun_uuid_bytes);
}

// A lock proves something only on the inode that the instance has opened; that is known to be this
// one if the path names it now and did so when the instance was told of it.
Status LunSet::check_identity(const std::string& uuid_bytes, const Open& open,
                              const std::vector<instance::LunIdentity>& opened) {
  const cvm::LunNode& node = open.device.node();
  const std::string uuid = cvm::uuid_from_bytes(uuid_bytes)->to_string();
  const bool same =
      std::all_of(opened.begin(), opened.end(), [&](const instance::LunIdentity& identity) {
        return identity.uuid != uuid ||
               (identity.lock_device == node.lock_device && identity.lock_inode == node.lock_inode);
      });
  if (same && open.device.current()) return {};
  return fail(ErrorCode::kNotFound,
              fmt::format("lun {}: {} is not the node the old instance may have opened (it was "
                          "replaced, or went away and came back), so nothing proves that its I/O "
                          "has ended (reboot this head: that does)",
                          open.name, node.path));
}

Status LunSet::obtain_bytes(const std::vector<const cvm::records::LunRecord*>& luns,
                            const std::vector<instance::LunIdentity>& opened, VnfsId vnfs,
                            std::int64_t timeout_ms) const {
  for (const cvm::records::LunRecord* lun : luns) {
    UniqueFd fd;
    {
      // A duplicate, so that waiting for I/O in flight does not hold the mutex.
      const MutexLock lock(mutex_);
      const auto it = open_.find(lun->uuid());
      if (it != open_.end()) {
        SYMNAS_TRY(check_identity(it->first, it->second, opened));
        fd = UniqueFd(::fcntl(it->second.device.fd(), F_DUPFD_CLOEXEC, 0));
      }
    }
    if (!fd.valid()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("lun {}: is not visible on this head, so nothing proves that the old "
                              "instance's I/O has ended (bring the LUN back)",
                              lun->name()));
    }
    if (const Status got = cvm::obtain_ofd_byte(fd.get(), vnfs.value(), timeout_ms); !got) {
      return fail(got.error().code, fmt::format("lun {}: I/O of the old instance may still be in "
                                                "flight: {} (waiting for it)",
                                                lun->name(), got.error().message));
    }
  }
  return {};
}

}  // namespace symnas::vnfsd::daemon
