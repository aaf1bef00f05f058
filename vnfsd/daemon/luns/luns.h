// LunSet: the cluster's LUNs as this head sees them, each kept open. Thread-safe.
// Invariants: a LUN is found by its label's uuid, never by its path; it is opened through its
// canonical node only, so that its OFD locks are the instances' locks (INV-1).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "common/base/uuid.h"
#include "cvm/lun_device.h"
#include "vnfsd/instance/plan.h"
#include "vnfsd/instance/state_file.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::daemon {

struct LunSight {
  std::string name;
  std::string path;   // "" = not found on this head
  std::string error;  // why it was not found, if there is a reason
};

class LunSet {
 public:
  explicit LunSet(const Uuid& cluster) : cluster_(cluster) {}

  // Looks for the view's LUNs among `candidates` and opens new ones; forgets LUNs that are not the
  // cluster's any more, and opens a LUN anew that its path does not name any more. Returns whether
  // the set of open LUNs has changed. Reads every candidate: not for every event.
  bool scan(const ClusterView& view, const std::vector<std::string>& candidates);
  // Whether exactly the LUNs of the view are open, each as its path names it now.
  bool complete(const ClusterView& view) const;

  // All open LUNs, by name.
  std::vector<instance::LunPath> paths() const;
  // For `symnas status`: every LUN of the view at the last scan.
  std::vector<LunSight> sights() const;
  // Errors: kNotFound.
  Result<std::string> path_of(const std::string& lun_uuid_bytes) const;
  void forget(const std::string& lun_uuid_bytes);

  // Obtains byte `vnfs` on every one of the LUNs, one after the other. `opened`: what their paths
  // named when the instance was told of them; a lock on anything else proves nothing about the
  // instance's I/O. Errors: kNotFound (a LUN is not visible on this head, or is another inode now:
  // nothing can be proved about it), kBusy after timeout_ms per LUN.
  Status obtain_bytes(const std::vector<const cvm::records::LunRecord*>& luns,
                      const std::vector<instance::LunIdentity>& opened, VnfsId vnfs,
                      std::int64_t timeout_ms) const;

 private:
  struct Open {
    std::string name;
    cvm::LunDevice device;
  };
  static Status check_identity(const std::string& uuid_bytes, const Open& open,
                               const std::vector<instance::LunIdentity>& opened);
  const Uuid cluster_;
  mutable Mutex mutex_;
  std::map<std::string, Open> open_ GUARDED_BY(mutex_);  // by uuid bytes
  std::vector<LunSight> sights_ GUARDED_BY(mutex_);
};

}  // namespace symnas::vnfsd::daemon
