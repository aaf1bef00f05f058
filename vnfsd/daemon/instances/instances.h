// Instances: this head's instances, for the components that watch them. Thread-safe.
#pragma once

#include <map>
#include <string>

#include "common/base/ids.h"
#include "vnfsd/instance/supervisor.h"

namespace symnas::vnfsd::daemon {

class Instances {
 public:
  virtual ~Instances() = default;
  // By VNFS.
  virtual std::map<std::string, instance::InstanceSnapshot> snapshots() const = 0;
  // Kills the instance of that epoch if it still runs; what follows is as after every end: fence,
  // restart.
  virtual void end_instance(const std::string& vnfs, Epoch epoch, const std::string& why) = 0;
};

}  // namespace symnas::vnfsd::daemon
