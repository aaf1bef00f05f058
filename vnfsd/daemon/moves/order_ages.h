// OrderAges: how long this head has known each order to move a VNFS, by its own clock. Fed with
// each look at the records. Thread class: thread-compatible.
#pragma once

#include <cstdint>
#include <map>

#include "common/base/ids.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::daemon {

class OrderAges {
 public:
  // By the order's mod_revision, in nanoseconds; 0 when it is new since the last look.
  std::map<Revision, std::int64_t> look(std::int64_t now_ns, const ClusterView& view);

 private:
  std::map<Revision, std::int64_t> since_ns_;
};

}  // namespace symnas::vnfsd::daemon
