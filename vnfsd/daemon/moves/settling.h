// SettleWatch: knows which heads have served for long. Fed with each look at the records. Thread
// class: thread-compatible.
//
// Invariant: a head that booted, whose vnfsd started, that was fenced or drained, or whose LUNs
// changed in between has not settled, however rare the looks are. Clocks of other heads do not
// matter.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::daemon {

class SettleWatch {
 public:
  // The heads that are as they were settle_ms ago and serve.
  std::set<std::string> look(std::int64_t now_ms, const ClusterView& view, std::int64_t settle_ms);

 private:
  struct Seen {
    std::string state;
    std::int64_t since_ms = 0;
  };
  std::map<std::string, Seen> seen_;  // of the last look, those that served
};

}  // namespace symnas::vnfsd::daemon
