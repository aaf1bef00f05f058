// NetworkHealth: which networks this head reaches badly: their device has no carrier, or other
// heads are heard elsewhere and none of them there. Pure, thread-compatible. Invariant: with fewer
// than two others that reach it themselves nothing tells who is cut off, and nobody is blamed;
// health.h.
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
  std::map<std::string, std::vector<IpAddress>> peers;  // of other heads: their addresses, by path
  std::map<std::string, std::set<std::string>>
      ill_there;  // by head: which networks it says are ill
  std::vector<ha::PeerSight> sights;
};

class NetworkHealth {
 public:
  // What this head has said last was ill: it stays so until another head is heard there, if one can
  // be. Before the first look().
  void remember(std::int64_t now_ms, const std::set<std::string>& ill);
  // To be called every kTryMs. Answers whether ill() or worse() has changed.
  bool look(std::int64_t now_ms, const NetworkView& view);
  // Why, by name, of those that are not well.
  const std::map<std::string, std::string>& ill() const { return ill_; }
  // Of them, those that have been ill for long (Health::State::kWorse).
  const std::set<std::string>& worse() const { return worse_; }

 private:
  std::string doubt_of(const std::string& network, const std::string& device_name,
                       const NetworkView& view);

  std::map<std::string, Health> networks_;
  std::set<std::string> unheard_;  // of what it remembers
  std::map<std::string, std::string> ill_;
  std::set<std::string> worse_;
};

}  // namespace symnas::vnfsd::daemon
