// InstanceSet: a supervisor for each VNFS that this head serves, gives up, or is to serve next.
// Thread-safe. Invariant: destroying it leaves the instances running.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/base/thread_annotations.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/instances/instances.h"
#include "vnfsd/instance/supervisor.h"

namespace symnas::vnfsd::daemon {

class InstanceSet final : public Instances {
 public:
  // `host` is called on the supervisors' threads.
  InstanceSet(const ThisHead& head, instance::Host& host) : head_(head), host_(host) {}

  // Brings the supervisors in line with the records. `coming_here`: VNFSs of other heads that are
  // on their way here.
  void follow(const ClusterView& view, const std::set<std::string>& coming_here);
  // This head owns nothing any more.
  void stop_all();
  // LUNs have been opened: every instance is told.
  void refresh();
  // Whether every instance that may open LUNs knows of all that are open here.
  bool is_refreshed() const;
  // Ends the standbys that the agent before this one has left: nobody knows what became of their
  // orders.
  void end_standbys() const;
  // Destroys the supervisors and waits for their threads. REQUIRES: follow() is not called any
  // more.
  void clear();

  // --- Instances
  std::map<std::string, instance::InstanceSnapshot> snapshots() const override;
  void end_instance(const std::string& vnfs, Epoch epoch, const std::string& why) override;

 private:
  std::unique_ptr<instance::Supervisor> supervise(const std::string& vnfs,
                                                  instance::Wanted wanted) const;
  void leave(const std::string& name, const records::VnfsRecord& record, bool lost,
             std::vector<std::unique_ptr<instance::Supervisor>>& gone) REQUIRES(mutex_);
  bool was_left_here(const std::string& vnfs) const;  // an instance of this boot

  const ThisHead& head_;
  instance::Host& host_;
  mutable Mutex mutex_;  // before SupervisorRequests::mutex_
  // By VNFS.
  std::map<std::string, std::unique_ptr<instance::Supervisor>> supervisors_ GUARDED_BY(mutex_);
};

}  // namespace symnas::vnfsd::daemon
