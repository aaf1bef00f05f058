#include "vnfsd/daemon/admin/vnfs_admin.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "vnfsd/daemon/clients/client_use.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/journal/commit.h"
#include "vnfsd/plans/deciders.h"
#include "vnfsd/plans/plans.h"
#include "vnfsd/records/expected_pause.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::daemon {
namespace {

struct NewVip {
  std::string vnfs;
  IpAddress address;
  std::string device;
};

// The VIPs that VNFSs get by the change.
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

Status VnfsAdmin::check_vips_free(const ClusterView& before, const Change& change) const {
  if (!who_has_) return {};
  SYMNAS_ASSIGN(const std::vector<NewVip> vips, new_vips(before, change));
  std::map<std::string, std::vector<IpAddress>> by_device;
  for (const NewVip& vip : vips) by_device[vip.device].push_back(vip.address);
  for (const auto& [device, addresses] : by_device) {
    const auto holders = who_has_(device, addresses);
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

Result<std::string> VnfsAdmin::change_with_vips(const Planner& planner, Mode mode) {
  SYMNAS_ASSIGN(const ClusterView before, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(const Change change, planner(before));
  SYMNAS_TRY(check_vips_free(before, change));
  return commit(head_, events_, planner, mode);
}

Result<std::string> VnfsAdmin::create_vnfs(const VnfsRequest& request, Mode mode) {
  return change_with_vips([&](const ClusterView& v) { return plan_vnfs_create(v, request); }, mode);
}

Result<std::string> VnfsAdmin::create_vnfs_set(const VnfsSetRequest& request, Mode mode) {
  return change_with_vips([&](const ClusterView& v) { return plan_vnfs_create_set(v, request); },
                          mode);
}

// A client that has the VNFS mounted hangs for ever, and nobody else could give back the locks
// recorded through it: they go with the VNFS.
Result<std::string> VnfsAdmin::remove_vnfs(const std::string& name, api::Consent consent,
                                           Mode mode) {
  SYMNAS_ASSIGN(const ClusterView before, read_when_ready(head_, reader_));
  SYMNAS_TRY(plan_vnfs_remove(before, name));
  SYMNAS_ASSIGN(const ClientUse use, client_use(head_.store, before, name));
  const bool used = use.clients != 0 || use.lock_records != 0;
  const std::string who = text_of(use);
  if (used && consent == api::Consent::kNo && mode == Mode::kCommit) {
    return fail(ErrorCode::kBusy,
                fmt::format("vnfs {}: in use when it was stopped: {}; these clients would hang for "
                            "ever and lose their locks (--yes if that is meant)",
                            name, who));
  }
  auto done = commit(
      head_, events_, [&](const ClusterView& view) { return plan_vnfs_remove(view, name); }, mode);
  if (!done) return done;
  if (used) *done += fmt::format("\nvnfs {}: had {}", name, who);
  if (mode == Mode::kDryRun) return done;
  SYMNAS_ASSIGN(const auto locks, locks_of(head_.store, before, name));
  for (const auto& [fsid, one] : locks) {
    const Status gone =
        fs::forget_locks(head_.store, fsid, one, kv::keys::kVnfs + name, kStoreDeadlineMs);
    if (!gone) log::warn("vnfs {}: locks of its clients stay: {}", name, gone.error().message);
  }
  return done;
}

Result<std::string> VnfsAdmin::rehost_vnfs(const std::string& name, const std::string& head,
                                           Pin pin, Mode mode) {
  SYMNAS_TRY(reader_.wait_ready());
  auto done = commit(
      head_, events_,
      [&](const ClusterView& view) -> Result<Change> {
        SYMNAS_TRY(check_builtin_decides(view, "vnfs rehost", kMoveInstead));
        return plan_vnfs_rehost(view, name, head, head_.clock.wall_ns(), pin);
      },
      mode);
  if (!done || mode == Mode::kCommit) return done;
  SYMNAS_ASSIGN(const ClusterView now, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(const ClientUse use, client_use(head_.store, now, name));
  SYMNAS_ASSIGN(const auto tenures, read_history(head_.store, name, kStoreDeadlineMs));
  *done += fmt::format("\nvnfs {}: {}", name, text_of(use));
  *done += fmt::format("\nvnfs {}: expected pause: {}", name, expected_pause(tenures, head));
  return done;
}

Result<nlohmann::json> VnfsAdmin::vnfs_history(const std::string& name) {
  SYMNAS_TRY(reader_.wait_ready());
  SYMNAS_ASSIGN(const ClusterView view, read_view(head_.store, kStoreDeadlineMs));
  SYMNAS_TRY(find(view.vnfses, "vnfs", name));
  SYMNAS_ASSIGN(const auto tenures, read_history(head_.store, name, kStoreDeadlineMs));
  return nlohmann::json{{"history", history_document(tenures)}};
}

}  // namespace symnas::vnfsd::daemon
