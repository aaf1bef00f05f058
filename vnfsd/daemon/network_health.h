// NetworkHealth: which networks this head reaches badly: their device has no carrier, or other
// heads are heard elsewhere and none of them there. Pure, thread-compatible. Invariant: with fewer
// than two others nothing tells who is cut off, and nobody is blamed; health.h.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ha/detection/peer_watch.h"
#include "vnfsd/daemon/health.h"
#include "vnfsd/net_address.h"
#include "vnfsd/probe/devices.h"

namespace symnas::vnfsd::daemon {

struct NetworkView {
  std::map<std::string, std::string> networks;  // device, by name of the network
  std::map<std::string, probe::Device> devices;
  std::map<std::string, std::vector<IpAddress>> peers;  // of other heads: their addresses, by path
  std::vector<ha::PeerSight> sights;
};

class NetworkHealth {
 public:
  // To be called every kTryMs. Answers whether ill() or worse() has changed.
  bool look(std::int64_t now_ms, const NetworkView& view);
  // Why, by name, of those that are not well.
  const std::map<std::string, std::string>& ill() const { return ill_; }
  // Of them, those that have been ill for long (Health::State::kWorse).
  const std::set<std::string>& worse() const { return worse_; }

 private:
  std::map<std::string, Health> networks_;
  std::map<std::string, std::string> ill_;
  std::set<std::string> worse_;
};

}  // namespace symnas::vnfsd::daemon
