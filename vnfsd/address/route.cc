#include "vnfsd/address/route.h"

#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <fmt/core.h>

#include "vnfsd/address/link.h"
#include "vnfsd/address/netlink.h"

namespace symnas::vnfsd::address {
namespace {

// Before main (32766), after local (0).
constexpr std::uint32_t kSilentPriority = 900;
constexpr std::uint32_t kRulePriorityBase = 1000;

std::uint8_t family_of(const IpAddress& address) {
  return address.family == AddressFamily::kIpv4 ? AF_INET : AF_INET6;
}

Status add_route(const std::string& what, std::uint8_t family, std::uint8_t table,
                 std::uint8_t scope, const std::function<void(nlmsghdr*, rtmsg*)>& fill) {
  SYMNAS_ASSIGN(Rtnetlink netlink, Rtnetlink::open());
  const Status added = netlink.request(
      RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, what + ": adding it", [&](nlmsghdr* header) {
        auto* route = static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(header, sizeof(rtmsg)));
        route->rtm_family = family;
        route->rtm_table = table;
        route->rtm_protocol = RTPROT_STATIC;
        route->rtm_scope = scope;
        route->rtm_type = RTN_UNICAST;
        fill(header, route);
      });
  if (!added && added.error().code == ErrorCode::kAlreadyExists) return {};
  return added;
}

void put_link(nlmsghdr* header, const std::string& link) {
  mnl_attr_put_u32(header, RTA_OIF, if_nametoindex(link.c_str()));
}

Status add_default(const std::string& link, const IpAddress& gateway, std::uint8_t table) {
  return add_route(fmt::format("default route over {} on link {}", gateway.to_string(), link),
                   family_of(gateway), table, RT_SCOPE_UNIVERSE, [&](nlmsghdr* header, rtmsg*) {
                     mnl_attr_put(header, RTA_GATEWAY, gateway.size_bytes(), gateway.bytes.data());
                     put_link(header, link);
                   });
}

Status add_on_link(const std::string& link, const Cidr& address, std::uint8_t table) {
  const IpAddress network = address.network();
  return add_route(
      fmt::format("route to {}/{} on link {}", network.to_string(), address.prefix_length, link),
      family_of(network), table, RT_SCOPE_LINK, [&](nlmsghdr* header, rtmsg* route) {
        route->rtm_dst_len = static_cast<std::uint8_t>(address.prefix_length);
        mnl_attr_put(header, RTA_DST, network.size_bytes(), network.bytes.data());
        put_link(header, link);
      });
}

// `table`: 0 = none.
Status change_rule(std::uint16_t type, std::uint16_t flags, const IpAddress& source,
                   std::uint8_t action, std::uint8_t table, std::uint32_t priority) {
  SYMNAS_ASSIGN(Rtnetlink netlink, Rtnetlink::open());
  return netlink.request(
      type, flags, fmt::format("routing rule from {}: changing it", source.to_string()),
      [&](nlmsghdr* header) {
        auto* rule =
            static_cast<fib_rule_hdr*>(mnl_nlmsg_put_extra_header(header, sizeof(fib_rule_hdr)));
        rule->family = family_of(source);
        rule->src_len = static_cast<std::uint8_t>(source.bits());
        rule->table = table;
        rule->action = action;
        mnl_attr_put(header, FRA_SRC, source.size_bytes(), source.bytes.data());
        mnl_attr_put_u32(header, FRA_PRIORITY, priority);
      });
}

}  // namespace

Status add_default_route(const std::string& link, const IpAddress& gateway) {
  return add_default(link, gateway, RT_TABLE_MAIN);
}

Status add_source_route(const std::string& link, const Cidr& source,
                        const std::optional<IpAddress>& gateway, std::uint8_t table) {
  SYMNAS_TRY(add_on_link(link, source, table));
  if (gateway) SYMNAS_TRY(add_default(link, *gateway, table));
  const Status added = change_rule(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, source.address,
                                   FR_ACT_TO_TBL, table, kRulePriorityBase + table);
  if (!added && added.error().code == ErrorCode::kAlreadyExists) return {};
  return added;
}

Status silence(const IpAddress& address) {
  if (address.family == AddressFamily::kIpv4) return {};
  const Status added = change_rule(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, address,
                                   FR_ACT_BLACKHOLE, RT_TABLE_UNSPEC, kSilentPriority);
  if (!added && added.error().code == ErrorCode::kAlreadyExists) return {};
  return added;
}

Status let_speak(const IpAddress& address) {
  if (address.family == AddressFamily::kIpv4) return {};
  const Status removed =
      change_rule(RTM_DELRULE, 0, address, FR_ACT_BLACKHOLE, RT_TABLE_UNSPEC, kSilentPriority);
  if (!removed && removed.error().code == ErrorCode::kNotFound) return {};
  return removed;
}

}  // namespace symnas::vnfsd::address
