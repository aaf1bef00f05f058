#include <fmt/core.h>

#include "common/kv/keys.h"
#include "vnfsd/names/names.h"
#include "vnfsd/network/gateways.h"
#include "vnfsd/network/net_address.h"
#include "vnfsd/plans/limits.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd {
namespace {

constexpr std::size_t kNetworksMax = 4;  // docs/design.md 1

}  // namespace

Result<Change> plan_network_create(const ClusterView& view, const NetworkRequest& request) {
  SYMNAS_TRY(check_name("network", request.name));
  SYMNAS_TRY(check_device_name(request.device));
  if (view.networks.contains(request.name)) {
    return fail(ErrorCode::kAlreadyExists, fmt::format("network {}: exists already", request.name));
  }
  if (request.mtu != 0 && (request.mtu < kMtuMin || request.mtu > kMtuMax)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("network {}: mtu {}: must be {} to {}", request.name, request.mtu,
                            kMtuMin, kMtuMax));
  }
  if (const auto gateways = Gateways::parse(request.gateway); !gateways) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("network {}: {}", request.name, gateways.error().message));
  }
  if (view.networks.size() >= kNetworksMax) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("network {}: a cluster has at most {} networks (symnas network ls; "
                            "remove one that no VNFS uses)",
                            request.name, kNetworksMax));
  }
  for (const auto& [name, network] : view.networks) {
    if (network.record.device() == request.device) {
      return fail(ErrorCode::kBusy,
                  fmt::format("network {}: device {} belongs to network {} (use that network)",
                              request.name, request.device, name));
    }
  }
  records::NetworkRecord record;
  record.set_name(request.name);
  record.set_device(request.device);
  record.set_mtu(static_cast<std::uint32_t>(request.mtu));
  record.set_gateway(request.gateway);
  Change change{fmt::format("network {}: created on {}", request.name, request.device), {}};
  change.txn.success.push_back(
      kv::put(kv::keys::kNetworks + request.name, record.SerializeAsString()));
  return change;
}

Result<Change> plan_network_remove(const ClusterView& view, const std::string& name) {
  SYMNAS_TRY(find(view.networks, "network", name));
  for (const auto& [vnfs_name, vnfs] : view.vnfses) {
    for (const records::Vip& vip : vnfs.record.vips()) {
      if (vip.network() == name) {
        return fail(ErrorCode::kBusy,
                    fmt::format("network {}: in use by VNFS {} (symnas vnfs rm {})", name,
                                vnfs_name, vnfs_name));
      }
    }
  }
  Change change{fmt::format("network {}: removed", name), {}};
  change.txn.success.push_back(kv::erase(kv::keys::kNetworks + name));
  return change;
}

}  // namespace symnas::vnfsd
