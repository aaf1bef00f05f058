#include "vnfsd/ctl/keepalived_config.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr int kFirstPriority = 250;
constexpr int kLastPriority = 10;
constexpr int kPriorityStepMax = 50;
// A head that is back is left alone for so long before it takes what prefers it.
constexpr int kPreemptDelayS = 30;

// Braces are keepalived's own; {0} is the head.
constexpr const char* kGlobal = R"(# keepalived of {0}: which head is to serve which VNFS.
# Made by `symnas ha keepalived generate`; after changes to VNFSs or heads it is made anew.
global_defs {{
  router_id {0}
  enable_script_security
  script_user root
  vrrp_version 3
  vrrp_higher_prio_send_advert true
  vrrp_no_swap
  max_auto_priority 99
  vrrp_notify_fifo /run/symnas-keepalived/notify
  vrrp_notify_fifo_script /usr/lib/symnas/keepalived-notify
}}
)";

struct Instance {
  std::string vnfs;
  std::uint32_t router_id = 0;
  int priority = 0;
  bool preempts = false;
  std::string address;
  std::vector<std::string> peers;
};

// By name.
std::map<std::string, std::string> addresses_of(const json& heads) {
  std::map<std::string, std::string> out;
  for (const json& head : heads) out[head.value("name", "")] = head.value("address", "");
  return out;
}

Result<AddressFamily> family_of(const Instance& instance) {
  SYMNAS_ASSIGN(const IpAddress own, IpAddress::parse(instance.address));
  for (const std::string& peer : instance.peers) {
    SYMNAS_ASSIGN(const IpAddress other, IpAddress::parse(peer));
    if (other.family == own.family) continue;
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("vnfs {}: its heads {} and {} have addresses of two families, which "
                            "one VRRP instance cannot have",
                            instance.vnfs, instance.address, peer));
  }
  return own.family;
}

// keepalived 2.2.7 refuses an instance of VRRPv3 without an address. This one is of the loopback
// network: nobody is told of it, nobody can reach it.
std::string own_address(AddressFamily family, std::uint32_t router_id) {
  return family == AddressFamily::kIpv4 ? fmt::format("127.0.66.{}/32", router_id)
                                        : fmt::format("fe80::66:{:x}/128", router_id);
}

std::string peers_text(const Instance& instance) {
  if (instance.peers.empty()) return "  # no other head has this VNFS\n";
  return fmt::format("  unicast_src_ip {}\n  unicast_peer {{\n    {}\n  }}\n", instance.address,
                     fmt::join(instance.peers, "\n    "));
}

std::string text_of(const Instance& instance, AddressFamily family, const std::string& interface) {
  const std::string id = "symnas_" + instance.vnfs;
  const std::string preemption =
      instance.preempts ? fmt::format("preempt_delay {}", kPreemptDelayS) : "nopreempt";
  return fmt::format(R"(
vrrp_script {0} {{
  script "/usr/lib/symnas/keepalived-track {1}"
  interval 2
  timeout 4
  fall 3
  rise 1
}}

track_file {0} {{
  file /run/symnas-keepalived/{1}.priority
  weight 1
  init_file 0
}}

vrrp_instance {0} {{
  state BACKUP
  {2}
  interface {3}
  virtual_router_id {4}
  priority {5}
  advert_int 0.2
{6}  virtual_ipaddress {{
    {7} dev lo
  }}
  track_script {{
    {0}
  }}
  track_file {{
    {0}
  }}
}}
)",
                     id, instance.vnfs, preemption, interface, instance.router_id,
                     instance.priority, peers_text(instance),
                     own_address(family, instance.router_id));
}

}  // namespace

std::uint32_t virtual_router_id(std::uint32_t vnfs_id) {
  const std::uint32_t rest = vnfs_id % kVirtualRouterIds;
  return rest == 0 ? kVirtualRouterIds : rest;
}

int vrrp_priority(std::size_t index, std::size_t count) {
  const int steps = std::max(static_cast<int>(count) - 1, 1);
  const int step = std::min(kPriorityStepMax, (kFirstPriority - kLastPriority) / steps);
  return kFirstPriority - step * static_cast<int>(index);
}

Result<std::string> keepalived_config(const json& vnfses, const json& heads,
                                      const KeepalivedWish& wish) {
  const std::map<std::string, std::string> addresses = addresses_of(heads);
  if (!addresses.contains(wish.head)) {
    return fail(ErrorCode::kNotFound, fmt::format("head {}: there is none", wish.head));
  }
  std::string out = fmt::format(kGlobal, wish.head);
  std::map<std::uint32_t, std::string> taken;  // virtual router id -> VNFS
  for (const json& vnfs : vnfses) {
    const auto names = vnfs.value("heads", std::vector<std::string>{});
    const auto own = std::ranges::find(names, wish.head);
    if (own == names.end()) continue;
    Instance instance;
    instance.vnfs = vnfs.value("name", "");
    instance.router_id = virtual_router_id(vnfs.value("vnfs_id", 0U));
    instance.priority = vrrp_priority(static_cast<std::size_t>(own - names.begin()), names.size());
    instance.preempts = vnfs.value("failback", "") == "auto";
    instance.address = addresses.at(wish.head);
    for (const std::string& name : names) {
      const auto peer = addresses.find(name);
      if (name != wish.head && peer != addresses.end()) instance.peers.push_back(peer->second);
    }
    const auto [other, fresh] = taken.emplace(instance.router_id, instance.vnfs);
    if (!fresh) {
      return fail(ErrorCode::kNotSupported,
                  fmt::format("vnfs {} and vnfs {}: both would be virtual router {} of {}: VRRP "
                              "tells {} apart (remove one, and create it anew)",
                              other->second, instance.vnfs, instance.router_id, wish.head,
                              kVirtualRouterIds));
    }
    SYMNAS_ASSIGN(const AddressFamily family, family_of(instance));
    out += text_of(instance, family, wish.interface);
  }
  return out;
}

}  // namespace symnas::vnfsd::ctl
