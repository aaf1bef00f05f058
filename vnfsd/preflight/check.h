// All looks at this machine, one after the other. Thread-safe: functions without state; minutes if
// devices hang.
#pragma once

#include <string>
#include <vector>

#include "ha/fencing/fence_agent.h"
#include "vnfsd/preflight/finding.h"

namespace symnas::vnfsd::preflight {

// As of vnfsd: of the package symnas-pacemaker.
inline constexpr const char* kStonithProgram = "/usr/lib/symnas/symnas-stonith";

struct CheckOptions {
  bool joined = false;                 // the head has its files: etcd and vnfsd may be running
  std::string etcd_dir;                // of the data, or where they are to be; "" = no member
  std::vector<std::string> peers;      // management addresses of other heads
  std::vector<std::string> lun_paths;  // globs
  std::string reservation_program;     // "" = heads are not cut off by reservations
  ha::FenceAgent agent;                // its program "" = none
  std::string stonith_program;         // asks pacemaker; "" = pacemaker is not the decider
  std::string ganesha;                 // the program of the instances
};

std::vector<Finding> check_head(const CheckOptions& options);

}  // namespace symnas::vnfsd::preflight
