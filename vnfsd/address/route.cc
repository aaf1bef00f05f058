#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <fmt/format.h>

#include "vnfsd/address/link.h"
#include "vnfsd/address/netlink.h"

namespace symnas::vnfsd::address {
namespace {

constexpr std::uint32_t kRulePriorityBase = 1000;  // before main (32766), after local (0)

Status add_route(const std::string& link, const IpAddress& gateway, std::uint8_t table) {
  const unsigned index = if_nametoindex(link.c_str());
  SYMNAS_ASSIGN(Rtnetlink netlink, Rtnetlink::open());
  const Status added = netlink.request(
      RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL,
      fmt::format("default route over {} on link {}: adding it", gateway.to_string(), link),
      [&](nlmsghdr* header) {
        auto* route = static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(header, sizeof(rtmsg)));
        route->rtm_family = AF_INET;
        route->rtm_table = table;
        route->rtm_protocol = RTPROT_STATIC;
        route->rtm_scope = RT_SCOPE_UNIVERSE;
        route->rtm_type = RTN_UNICAST;
        mnl_attr_put(header, RTA_GATEWAY, gateway.size_bytes(), gateway.bytes.data());
        mnl_attr_put_u32(header, RTA_OIF, index);
      });
  if (!added && added.error().code == ErrorCode::kAlreadyExists) return {};
  return added;
}

}  // namespace

Status add_default_route(const std::string& link, const IpAddress& gateway) {
  return add_route(link, gateway, RT_TABLE_MAIN);
}

Status add_source_route(const std::string& link, const IpAddress& source, const IpAddress& gateway,
                        std::uint8_t table) {
  SYMNAS_TRY(add_route(link, gateway, table));
  SYMNAS_ASSIGN(Rtnetlink netlink, Rtnetlink::open());
  const Status added = netlink.request(
      RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL,
      fmt::format("routing rule from {}: adding it", source.to_string()), [&](nlmsghdr* header) {
        auto* rule =
            static_cast<fib_rule_hdr*>(mnl_nlmsg_put_extra_header(header, sizeof(fib_rule_hdr)));
        rule->family = AF_INET;
        rule->src_len = static_cast<std::uint8_t>(source.bits());
        rule->table = table;
        rule->action = FR_ACT_TO_TBL;
        mnl_attr_put(header, FRA_SRC, source.size_bytes(), source.bytes.data());
        mnl_attr_put_u32(header, FRA_PRIORITY, kRulePriorityBase + table);
      });
  if (!added && added.error().code == ErrorCode::kAlreadyExists) return {};
  return added;
}

}  // namespace symnas::vnfsd::address
