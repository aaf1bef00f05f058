// LaterSteps: writes into the history (vnfsd/records/history.h) what clients have done since an
// instance of this head serves: their first request and their last reclaim. Fed once a second.
// Thread class: thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/instance/supervisor.h"

namespace symnas::vnfsd::daemon {

class LaterSteps {
 public:
  explicit LaterSteps(const ThisHead& head) : head_(head) {}

  // `instances`: of this head, by VNFS. Writes the steps that are new; a write that fails is
  // repeated with the next look.
  void look(const std::map<std::string, instance::InstanceSnapshot>& instances);

 private:
  // What InstanceSnapshot said of the instance of that epoch.
  struct Later {
    std::uint64_t epoch = 0;
    std::int64_t first_request_ns = 0;
    std::int64_t last_reclaim_ns = 0;
    friend bool operator==(const Later&, const Later&) = default;
  };
  Status put_later(const std::string& vnfs, const Later& later);

  const ThisHead& head_;
  std::map<std::string, Later> later_;  // what is in the history already, by VNFS
};

}  // namespace symnas::vnfsd::daemon
