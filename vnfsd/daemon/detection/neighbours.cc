#include "vnfsd/daemon/detection/neighbours.h"

#include "ha/policy/planner.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {

Neighbours neighbours_of(const ClusterView& view, const std::string& self) {
  Neighbours out;
  out.is_decided_elsewhere = view.cluster.record.decider() != records::DECIDER_BUILTIN;
  for (const auto& [name, head] : view.heads) {
    out.vips_by_head[name] = vips_of(view, name);
    out.ill_there[name] = {head.record.ill_networks().begin(), head.record.ill_networks().end()};
    if (name != self) out.addresses_by_head[name] = addresses_of(head.record);
  }
  for (const auto& [name, network] : view.networks)
    out.devices_by_network[name] = network.record.device();
  return out;
}

std::vector<IpAddress> addresses_of(const records::HeadRecord& head) {
  std::vector<IpAddress> out;
  const auto add = [&](const std::string& text) {
    if (const auto address = IpAddress::parse(text)) out.push_back(*address);
  };
  add(head.address());
  for (const std::string& text : head.probe_addresses()) add(text);
  return out;
}

// VIPs of what the head serves, or is to serve: others wait for it.
std::vector<Cidr> vips_of(const ClusterView& view, const std::string& head) {
  std::vector<Cidr> out;
  for (const auto& [vnfs, assignment] : ha::plan(facts_of(view))) {
    const auto owner = view.owners.find(vnfs);
    const bool owned = owner != view.owners.end() && owner->second.record.head() == head;
    if (!owned && (assignment.head != head || owner != view.owners.end())) continue;
    for (const records::Vip& vip : view.vnfses.at(vnfs).record.vips()) {
      const auto address = IpAddress::parse(vip.address());
      if (address) out.push_back({*address, vip.prefix_length()});
    }
  }
  return out;
}

}  // namespace symnas::vnfsd::daemon
