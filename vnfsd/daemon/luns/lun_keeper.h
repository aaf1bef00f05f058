// LunKeeper: finds the cluster's LUNs on this head, keeps them open, registers on them, and tries
// each once a second. Thread-safe.
//
// Invariant: no scan begins between another scan and the notice of its result to the instances
// (no_scan()).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/thread_annotations.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/health/lun_health.h"
#include "vnfsd/daemon/luns/luns.h"
#include "vnfsd/daemon/luns/registrations.h"

namespace symnas::vnfsd::daemon {

class LunKeeper {
 public:
  // `changed` is called on threads of this object when LUNs are reached worse or well again, or
  // this boot has registered on more of them.
  LunKeeper(const ThisHead& head, ReservationCalls calls, const std::function<void()>& changed);

  // Registers on the LUNs of the records.
  void follow_registrations(const ClusterView& view);
  // Scans, if a scan may find something new, and opens new LUNs. `found` is called when the set of
  // open LUNs has changed, before another scan may begin.
  void look(const ClusterView& view, const std::function<void()>& found);
  // Tries the open LUNs of the view from now on.
  void try_luns(const ClusterView& view);
  // No scan runs while this mutex is held.
  Mutex& no_scan() RETURN_CAPABILITY(scan_mutex_) { return scan_mutex_; }

  LunSet& open_luns() { return luns_; }
  Registrations& registrations() { return registrations_; }
  const LunCanaries& canaries() const { return canaries_; }
  // Where LUNs are looked for: the configuration's lun_paths, then where heads imported some from.
  std::vector<std::string> candidates(const ClusterView& view) const;

 private:
  const ThisHead& head_;
  LunSet luns_;
  Mutex scan_mutex_;  // one scan at a time
  // lun_set_version() at the last scan.
  std::string scanned_version_ GUARDED_BY(scan_mutex_);
  std::int64_t scanned_at_ms_ GUARDED_BY(scan_mutex_) = 0;
  LunCanaries canaries_;
  Registrations registrations_;
};

// Changes whenever a scan may find something new.
std::string lun_set_version(const ClusterView& view);

}  // namespace symnas::vnfsd::daemon
