// Neighbours: the part of the records that is needed to watch other heads and the networks. A value
// that nobody changes: threads share it.
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
  std::map<std::string, std::set<std::string>> ill_there;  // by head: networks it says are ill
  bool is_decided_elsewhere = false;  // by another decider than the builtin one
};

Neighbours neighbours_of(const ClusterView& view, const std::string& self);

// The head's addresses, by path.
std::vector<IpAddress> addresses_of(const records::HeadRecord& head);
// VIPs of the VNFSs that the head serves, or is to serve when nobody else does: others wait for
// them.
std::vector<Cidr> vips_of(const ClusterView& view, const std::string& head);

}  // namespace symnas::vnfsd::daemon
