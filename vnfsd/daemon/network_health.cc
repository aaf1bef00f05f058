#include "vnfsd/daemon/network_health.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "vnfsd/daemon/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

constexpr int kOthersMin = 2;

// "" = nothing speaks against the network.
std::string doubt_of(const std::string& name, const NetworkView& view) {
  const auto device = view.devices.find(name);
  if (device == view.devices.end()) return fmt::format("there is no device {} on this head", name);
  if (!device->second.running) return fmt::format("device {} of this head has no carrier", name);
  const auto is_there = [&](const IpAddress& address) {
    const auto& own = device->second.addresses;
    return std::any_of(own.begin(), own.end(), [&](const Cidr& subnet) {
      return subnet.address.family == address.family && subnet.contains(address);
    });
  };
  int others = 0;
  for (const ha::PeerSight& sight : view.sights) {
    const auto peer = view.peers.find(sight.head);
    if (peer == view.peers.end() || sight.silent_ms >= ha::kSilentMs) continue;
    const std::size_t paths = std::min(peer->second.size(), sight.paths_silent_ms.size());
    for (std::size_t path = 0; path < paths; ++path) {
      const std::int64_t silent_ms = sight.paths_silent_ms[path];
      if (silent_ms < 0 || !is_there(peer->second[path])) continue;
      if (silent_ms < ha::kSilentMs) return "";
      ++others;
    }
  }
  if (others < kOthersMin) return "";
  return fmt::format("no other head is heard through device {}, but {} are through others", name,
                     others);
}

}  // namespace

bool NetworkHealth::look(std::int64_t now_ms, const NetworkView& view) {
  std::map<std::string, Health> networks;
  std::map<std::string, std::string> ill;
  std::set<std::string> worse;
  for (const auto& [name, device] : view.networks) {
    Health& health = networks[name] = networks_[name];
    health.answered(now_ms, doubt_of(device, view));
    const Health::State state = health.look(now_ms);
    if (state != Health::State::kWell) ill[name] = health.why();
    if (state == Health::State::kWorse) worse.insert(name);
  }
  networks_ = std::move(networks);
  const bool changed = ill != ill_ || worse != worse_;
  ill_ = std::move(ill);
  worse_ = std::move(worse);
  return changed;
}

}  // namespace symnas::vnfsd::daemon
