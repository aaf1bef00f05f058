// Neighbours: what the records say of heads and networks, as whoever watches other heads needs it.
// A value that nobody changes: it is shared.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "vnfsd/network/net_address.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::daemon {

struct Neighbours {
  std::map<std::string, std::vector<Cidr>> vips_by_head;
  std::map<std::string, std::vector<IpAddress>> addresses_by_head;  // of others, by path
  std::map<std::string, std::string> devices_by_network;
  std::map<std::string, std::set<std::string>> ill_there;  // by head: what it says is ill
};

Neighbours neighbours_of(const ClusterView& view, const std::string& self);

// Its addresses, by path.
std::vector<IpAddress> addresses_of(const records::HeadRecord& head);
// VIPs of what the head serves, or is to serve: others wait for it.
std::vector<Cidr> vips_of(const ClusterView& view, const std::string& head);

}  // namespace symnas::vnfsd::daemon
