#include "vnfsd/daemon/health/network_health.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace symnas::vnfsd::daemon {
namespace {

constexpr int kOthersMin = 2;

struct Others {
  int there = 0;  // heads that have an address there, are heard, and do not say that it is ill
  int came_before = 0;  // of them, those whose probes have come that way
  bool heard = false;   // one of them, just now
};

Others look_at_others(const std::string& network, const probe::Device& device,
                      const NetworkView& view) {
  Others others;
  const auto is_there = [&](const IpAddress& address) {
    return std::any_of(device.addresses.begin(), device.addresses.end(), [&](const Cidr& subnet) {
      return subnet.address.family == address.family && subnet.contains(address);
    });
  };
  for (const ha::PeerSight& sight : view.sights) {
    const auto peer = view.peers.find(sight.head);
    if (peer == view.peers.end() || sight.silent_ms >= ha::kSilentMs) continue;
    const auto ill = view.ill_there.find(sight.head);
    if (ill != view.ill_there.end() && ill->second.contains(network)) continue;
    bool there = false;
    bool came_before = false;
    for (std::size_t path = 0; path < peer->second.size(); ++path) {
      if (!is_there(peer->second[path])) continue;
      there = true;
      if (path >= sight.paths_silent_ms.size() || sight.paths_silent_ms[path] < 0) continue;
      came_before = true;
      others.heard = others.heard || sight.paths_silent_ms[path] < ha::kSilentMs;
    }
    others.there += there ? 1 : 0;
    others.came_before += came_before ? 1 : 0;
  }
  return others;
}

}  // namespace

void NetworkHealth::remember(std::int64_t now_ms, const std::set<std::string>& ill) {
  unheard_ = ill;
  for (const std::string& network : ill) {
    const std::string why = "it was reached badly before this vnfsd was started";
    networks_[network].was_ill(now_ms, why);
    ill_[network] = why;
  }
}

// "" = nothing speaks against the network.
std::string NetworkHealth::doubt_of(const std::string& network, const std::string& device_name,
                                    const NetworkView& view) {
  const auto device = view.devices.find(device_name);
  if (device == view.devices.end())
    return fmt::format("there is no device {} on this head", device_name);
  if (!device->second.running)
    return fmt::format("device {} of this head has no carrier", device_name);
  const Others others = look_at_others(network, device->second, view);
  if (others.heard || others.there == 0) {
    unheard_.erase(network);
    return "";
  }
  if (unheard_.contains(network)) {
    return fmt::format("no other head is heard through device {} since this vnfsd was started",
                       device_name);
  }
  if (others.came_before < kOthersMin) return "";
  return fmt::format("no other head is heard through device {}, but {} are through others",
                     device_name, others.came_before);
}

bool NetworkHealth::look(std::int64_t now_ms, const NetworkView& view) {
  std::map<std::string, Health> networks;
  std::map<std::string, std::string> ill;
  std::set<std::string> worse;
  for (const auto& [name, device] : view.networks) {
    Health& health = networks[name] = networks_[name];
    health.answered(now_ms, doubt_of(name, device, view));
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
