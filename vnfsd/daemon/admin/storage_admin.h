// StorageAdmin: makes the changes that touch devices, or many records: LUNs, volumes, filesystems.
// Thread-safe. Invariant: one change of devices at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/thread_annotations.h"
#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/journal/event_writer.h"
#include "vnfsd/daemon/luns/device_scan.h"
#include "vnfsd/daemon/luns/lun_keeper.h"

namespace symnas::vnfsd::daemon {

class StorageAdmin final : public api::LunsBackend,
                           public api::VolumesBackend,
                           public api::FilesystemsBackend {
 public:
  // `found`: as of LunKeeper::look().
  StorageAdmin(const ThisHead& head, ClusterReader& reader, EventWriter& events, LunKeeper& luns,
               std::function<void()> found)
      : head_(head), reader_(reader), events_(events), keeper_(luns), found_(std::move(found)) {}

  Result<std::string> import_lun(const api::LunImportRequest& request, Mode mode) override;
  Result<std::string> release_lun(const std::string& name, api::Label label, Mode mode) override;
  Result<nlohmann::json> scan_luns(const std::vector<std::string>& paths) override;
  Result<std::string> create_volume(const VolumeRequest& request, Mode mode) override;
  Result<std::string> grow_volume(const VolumeRequest& request, Mode mode) override;
  Result<std::string> remove_volume(const std::string& name, Mode mode) override;
  Result<std::string> create_filesystem(const FilesystemRequest& request, Mode mode) override;
  Result<std::string> remove_filesystem(const std::string& name, Mode mode) override;

 private:
  // Notes in the labels which volume uses the LUNs (nil: none). Errors: as cvm::assign_lun,
  // kNotFound.
  Status assign_labels(const ClusterView& view, const std::vector<std::string>& luns,
                       const Uuid& volume) REQUIRES(admin_mutex_);
  // Puts the labels, then the records; a failure takes the labels back.
  Result<std::string> use_luns(const VolumeRequest& request, const Uuid& volume, Mode mode,
                               const Planner& planner) REQUIRES(admin_mutex_);
  // Waits until check_luns_seen() holds. Errors: those of check_luns_seen().
  Status wait_for_heads(const VolumeRequest& request) REQUIRES(admin_mutex_);

  const ThisHead& head_;
  ClusterReader& reader_;
  EventWriter& events_;
  LunKeeper& keeper_;
  const std::function<void()> found_;
  DeviceScan scan_;
  Mutex admin_mutex_;  // held over etcd and device I/O; taken before all others
};

}  // namespace symnas::vnfsd::daemon
