// The network devices of this thread's network namespace. Thread-safe: functions without state.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd::probe {

struct Device {
  bool running = false;  // it is up and has a carrier (IFF_RUNNING, netdevice(7))
  std::vector<Cidr> addresses;
};

// The devices by name; none when the kernel does not tell.
std::map<std::string, Device> devices();

}  // namespace symnas::vnfsd::probe
