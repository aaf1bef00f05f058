// NetworkHealth: judges which networks this head reaches badly: their device has no carrier, or
// other heads are heard elsewhere and none of them there. Pure, thread-compatible. Invariant,
// beside that of health.h: with fewer than two other heads that reach a network themselves nothing
// tells which head is cut off from it, and the network is not ill.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ha/detection/peer_watch.h"
#include "vnfsd/daemon/health/health.h"
#include "vnfsd/network/net_address.h"
#include "vnfsd/probe/devices.h"

namespace symnas::vnfsd::daemon {

struct NetworkView {
  std::map<std::string, std::string> networks;  // device, by name of the network
  std::map<std::string, probe::Device> devices;
  std::map<std::string, std::vector<IpAddress>> peers;  // addresses of other heads, by path
  std::map<std::string, std::set<std::string>>
      ill_there;  // by head: the networks that it says are ill
  std::vector<ha::PeerSight> sights;
};

class NetworkHealth {
 public:
  // Takes the networks that this head has last said were ill: each stays so until another head is
  // heard there, if one can be. To be called before the first look().
  void remember(std::int64_t now_ms, const std::set<std::string>& ill);
  // To be called every kTryMs. Returns whether ill() or worse() has changed.
  bool look(std::int64_t now_ms, const NetworkView& view);
  // The networks that are not well, by name, with the reason.
  const std::map<std::string, std::string>& ill() const { return ill_; }
  // Those of ill() that have been ill for long (Health::State::kWorse).
  const std::set<std::string>& worse() const { return worse_; }

 private:
  std::string doubt_of(const std::string& network, const std::string& device_name,
                       const NetworkView& view);

  std::map<std::string, Health> networks_;
  std::set<std::string> unheard_;  // remembered ones on which no head has been heard since
  std::map<std::string, std::string> ill_;
  std::set<std::string> worse_;
};

}  // namespace symnas::vnfsd::daemon
