// Registrations: persistent reservations of this boot. It registers on the cluster's LUNs before it
// starts any instance (docs/architecture/fencing.md). Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/luns/luns.h"
#include "vnfsd/daemon/luns/reservations.h"

namespace symnas::vnfsd::daemon {

class Registrations {
 public:
  // `changed`: as of Reservations. `luns` are those that are open here.
  Registrations(const ThisHead& head, ReservationCalls calls, const LunSet& luns,
                std::function<void()> changed);

  // Null: they are not configured.
  Reservations* reservations() const { return reservations_.get(); }
  // The records have changed. `candidates`: where LUNs may be.
  void follow(const ClusterView& view, std::vector<std::string> candidates);
  // Whether an instance of the VNFS may start here. Errors: kPermission (this boot was fenced),
  // kUnavailable (it is not registered), kNotFound.
  Status check(const ClusterView& view, const std::string& vnfs) const;
  // Whether this boot is registered on the LUN by `device`, where the LUN's label was found. True
  // also when reservations are not configured, or the LUN has no identification.
  bool is_registered_on(const ClusterView& view, const std::string& lun,
                        const std::string& device) const;
  // The identification of the LUN at `path`; "": it has none. Errors: kNotSupported (the LUN has
  // none, or could not fence, and reservations are wanted).
  Result<std::string> identification_of(const std::string& name, const std::string& path);

 private:
  const ThisHead& head_;
  const ReservationCalls calls_;
  const LunSet& luns_;
  std::unique_ptr<Reservations> reservations_;  // null: not configured
};

// The LUNs of the view that have an identification.
LunNames identified_luns(const ClusterView& view);

}  // namespace symnas::vnfsd::daemon
