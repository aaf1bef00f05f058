// What `symnas ha keepalived generate` prints: keepalived.conf of a head, from what the cluster
// says of its VNFSs and heads. Thread-safe: pure functions.
//
// Invariants: a VNFS is one VRRP instance, of the same virtual router id on every head; keepalived
// has no address that a client could reach, and nothing of the cluster's but these files: it says
// which head is to serve (docs/operations/keepalived.md), vnfsd does all the rest.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"

namespace symnas::vnfsd::ctl {

// VRRP's names for virtual routers (RFC 5798, 5.2.3).
inline constexpr std::uint32_t kVirtualRouterIds = 255;

struct KeepalivedWish {
  std::string head;
  std::string interface;  // that has the head's management address
};

// 1..255: of VNFSs whose ids are 255 apart, the same.
std::uint32_t virtual_router_id(std::uint32_t vnfs_id);
// Of a VNFS's heads, in their order; count: 1..16. 250 for the first, and so far apart that backups
// end their waiting one after the other (RFC 5798, 6.1: Skew_Time).
int vrrp_priority(std::size_t index, std::size_t count);

// keepalived.conf (keepalived.conf(5), 2.2.7 or later). `vnfses`, `heads`: the arrays of /v1/vnfs
// and /v1/heads (docs/operations/api.md). Errors: kNotFound (no such head), kInvalidArgument (a
// VNFS has heads with addresses of both families), kNotSupported (two VNFSs of this head would have
// one virtual router id).
Result<std::string> keepalived_config(const nlohmann::json& vnfses, const nlohmann::json& heads,
                                      const KeepalivedWish& wish);

}  // namespace symnas::vnfsd::ctl
