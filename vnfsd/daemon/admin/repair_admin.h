// RepairAdmin: plans repairs of filesystems and carries them out, on the thread of the request.
// Thread-safe. Invariants: one plan or repair at a time on this head; what is carried out is a plan
// that was shown.
#pragma once

#include <map>
#include <string>

#include "common/base/thread_annotations.h"
#include "fsal_cluster/repair/plan.h"
#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/journal/event_writer.h"

namespace symnas::vnfsd::daemon {

class RepairAdmin final : public api::RepairBackend {
 public:
  RepairAdmin(const ThisHead& head, ClusterReader& reader, EventWriter& events)
      : head_(head), reader_(reader), events_(events) {}

  Result<nlohmann::json> plan_repair(const std::string& filesystem, Progress& progress) override;
  Result<nlohmann::json> repair(const std::string& filesystem, const std::string& plan,
                                Progress& progress) override;
  Result<nlohmann::json> repairs(const std::string& filesystem) override;

 private:
  struct Kept {
    std::string id;
    fs::repair::Plan plan;
  };
  Result<fs::repair::Plan> plan(const std::string& filesystem, Progress& progress);
  void tell(const std::string& filesystem, std::size_t done, std::size_t changed);

  const ThisHead& head_;
  ClusterReader& reader_;
  EventWriter& events_;
  Mutex work_mutex_;                                          // only tried for
  std::map<std::string, Kept> kept_ GUARDED_BY(work_mutex_);  // the last plan, by filesystem
};

}  // namespace symnas::vnfsd::daemon
