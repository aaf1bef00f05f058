// Agent: VIPs that somebody else has.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::daemon {
namespace {

struct NewVip {
  std::string vnfs;
  IpAddress address;
  std::string device;
};

// Those that a VNFS gets by the change.
Result<std::vector<NewVip>> new_vips(const ClusterView& before, const Change& change) {
  std::vector<NewVip> out;
  for (const kv::Op& op : change.txn.success) {
    if (op.kind != kv::Op::Kind::kPut || !op.range.key.starts_with(kv::keys::kVnfs)) continue;
    records::VnfsRecord vnfs;
    if (!vnfs.ParseFromString(op.value)) continue;
    for (const records::Vip& vip : vnfs.vips()) {
      SYMNAS_ASSIGN(const IpAddress address, IpAddress::parse(vip.address()));
      SYMNAS_ASSIGN(const auto* network, find(before.networks, "network", vip.network()));
      out.push_back({vnfs.name(), address, network->record.device()});
    }
  }
  return out;
}

}  // namespace

Status Agent::check_vips_free(const ClusterView& before, const Change& change) const {
  if (!links_.who_has) return {};
  SYMNAS_ASSIGN(const std::vector<NewVip> vips, new_vips(before, change));
  std::map<std::string, std::vector<IpAddress>> by_device;
  for (const NewVip& vip : vips) by_device[vip.device].push_back(vip.address);
  for (const auto& [device, addresses] : by_device) {
    const auto holders = links_.who_has(device, addresses);
    if (!holders) {
      // A head without that network makes VNFSs for others; the one that serves it asks as well.
      log::warn("vnfs: nobody was asked for its VIPs: {}", holders.error().message);
      continue;
    }
    for (const NewVip& vip : vips) {
      for (const address::Holder& holder : *holders) {
        if (vip.device != device || holder.address != vip.address) continue;
        return fail(
            ErrorCode::kBusy,
            fmt::format("vnfs {}: VIP {}: {} answers for it on the network behind {} "
                        "(choose another, or take it away there)",
                        vip.vnfs, vip.address.to_string(), address::mac_text(holder.mac), device));
      }
    }
  }
  return {};
}

Result<std::string> Agent::change_with_vips(const Planner& planner, Mode mode) {
  SYMNAS_ASSIGN(const ClusterView before, view());
  SYMNAS_ASSIGN(const Change change, planner(before));
  SYMNAS_TRY(check_vips_free(before, change));
  return commit(planner, mode);
}

Result<std::string> Agent::create_vnfs(const VnfsRequest& request, Mode mode) {
  return change_with_vips([&](const ClusterView& v) { return plan_vnfs_create(v, request); }, mode);
}

Result<std::string> Agent::create_vnfs_set(const VnfsSetRequest& request, Mode mode) {
  return change_with_vips([&](const ClusterView& v) { return plan_vnfs_create_set(v, request); },
                          mode);
}

void Agent::vips_taken(const std::string& vnfs, const std::string& by_whom) {
  const std::string text =
      fmt::format("vnfs {}: not taken by {}: {}", vnfs, config_.head_name, by_whom);
  log::warn("{}", text);
  tell(event::kVipTaken, text);
  {
    const std::scoped_lock lock(mutex_);
    dirty_ = true;  // an order to move it here is refused
  }
  changed_.notify_all();
}

Result<std::vector<std::pair<std::string, Epoch>>> Agent::earlier(const std::string& vnfs) {
  SYMNAS_ASSIGN(const auto tenures, read_history(store_, vnfs, kStoreDeadlineMs));
  std::vector<std::pair<std::string, Epoch>> out;
  for (const records::TenureRecord& one : tenures) out.emplace_back(one.head(), Epoch(one.epoch()));
  return out;
}

}  // namespace symnas::vnfsd::daemon
