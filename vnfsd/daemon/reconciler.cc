#include "vnfsd/daemon/reconciler.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/version.h"
#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "cvm/volume.h"
#include "ha/detection/probe.h"
#include "vnfsd/address/link.h"
#include "vnfsd/daemon/follow/limits.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/luns/limits.h"
#include "vnfsd/daemon/moves/limits.h"
#include "vnfsd/instance/keytab_writer.h"
#include "vnfsd/plans/levels.h"
#include "vnfsd/plans/ownership.h"
#include "vnfsd/plans/plans.h"
#include "vnfsd/records/events.h"
#include "vnfsd/records/levels.h"

namespace symnas::vnfsd::daemon {

Reconciler::Reconciler(const ReconcilerParts& parts)
    : parts_(parts),
      head_(parts.head),
      moves_({parts.head, parts.events, parts.luns.registrations(), parts.luns.canaries(),
              parts.heads.networks(), parts.instances, parts.ownership}),
      keytabs_(parts.head, parts.events) {}

Status Reconciler::register_head() {
  SYMNAS_ASSIGN(const ClusterView view, read_view(head_.store, kStoreDeadlineMs));
  if (const Status known = parts_.events.resume(); !known) {
    log::warn("events: none are written: {}", known.error().message);
  }
  const std::string uuid = cvm::uuid_to_bytes(head_.config.cluster_uuid);
  if (view.cluster.mod_revision != Revision{} && view.cluster.record.uuid() != uuid) {
    return fail(
        ErrorCode::kForeign,
        fmt::format("cluster {}: etcd holds another cluster, {} (check [etcd] endpoints and "
                    "[cluster] uuid in vnfsd.toml)",
                    head_.config.cluster_name, view.cluster.record.name()));
  }
  records::HeadRecord said;
  said.set_address(head_.config.head_address);
  for (const std::string& address : head_.config.probe_addresses) said.add_probe_addresses(address);
  for (const address::MacAddress& mac : address::device_macs())
    said.add_macs(std::string(mac.begin(), mac.end()));
  said.set_agent_started_ns(head_.clock.wall_ns());
  if (const auto key = instance::make_box_key_once(head_.config)) {
    said.set_seal_key(key->public_key);
  } else {
    log::warn("head {}: no keytab can be sealed for it: {}", head_.config.head_name,
              key.error().message);
  }
  auto plan = plan_register(view, head_.boot(), std::move(said));
  if (!plan && plan.error().code == ErrorCode::kPermission) {
    // The instances that this boot has started are to be hidden and ended.
    parts_.instances.follow(view, moves_.preparing());
  }
  if (!plan) return tl::unexpected<Error>(plan.error());
  kv::Txn txn = std::move(*plan);
  if (view.cluster.mod_revision == Revision{}) {
    records::ClusterRecord cluster;
    cluster.set_name(head_.config.cluster_name);
    cluster.set_uuid(uuid);
    cluster.set_created_ns(head_.clock.wall_ns());
    cluster.set_level(level::kOwn);
    txn.success.push_back(kv::put(kv::keys::kCluster, cluster.SerializeAsString()));
  }
  const auto old = view.heads.find(head_.config.head_name);
  const bool booted =
      old == view.heads.end() || old->second.record.incarnation() != head_.incarnation;
  parts_.events.add(
      txn, make_event(event::kHeadStarted,
                      fmt::format("head {}: its agent {} has started{}", head_.config.head_name,
                                  kVersion, booted ? ", first of this boot" : ""),
                      head_.clock.wall_ns()));
  SYMNAS_ASSIGN(const kv::TxnResult result, kv::txn_blocking(head_.store, txn, kStoreDeadlineMs));
  if (!result.succeeded) return fail(ErrorCode::kConflict, "head: registering again");
  log::info("head {}: registered in cluster {}", head_.config.head_name, head_.config.cluster_name);
  return {};
}

Status Reconciler::follow(const ClusterView& view) {
  if (const Status allowed = head_.check_not_removed(view); !allowed) {
    // It owns nothing: what waits here to be called is not needed.
    parts_.instances.stop_all();
    return allowed;
  }
  if (!std::exchange(swept_, true)) parts_.instances.end_standbys();
  parts_.heads.follow(view);
  parts_.means.follow(view, parts_.heads.clocks_agree());
  if (is_any_being_cut_off(view)) parts_.means.stop_check();
  SYMNAS_TRY(make_probe_key(view));
  parts_.luns.follow_registrations(view);
  parts_.luns.look(view, [this] { parts_.instances.refresh(); });
  parts_.luns.try_luns(view);
  moves_.follow(view);
  parts_.instances.follow(view, moves_.preparing());
  const Status published = publish_luns(view);
  keytabs_.follow(view);  // what serves clients comes first
  return published;
}

void Reconciler::followed() { parts_.events.remind(); }

std::int64_t Reconciler::pause_ms() const {
  return unpublished_ ? kRefreshPollMs : moves_.are_under_way() ? kOwnMovesPollMs : kReconcileMs;
}

// Errors: those of the store.
Status Reconciler::make_probe_key(const ClusterView& view) {
  if (!view.cluster.record.probe_key().empty()) return {};
  records::ClusterRecord cluster = view.cluster.record;
  cluster.set_probe_key(ha::make_probe_key());
  kv::Txn txn;
  txn.compares.push_back(kv::mod_revision_is(kv::keys::kCluster, view.cluster.mod_revision));
  txn.success.push_back(kv::put(kv::keys::kCluster, cluster.SerializeAsString()));
  SYMNAS_TRY(kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs));
  return {};  // if another head was faster, that is read next time
}

Status Reconciler::publish_luns(const ClusterView& view) {
  unpublished_ = false;
  const Registrations& registrations = parts_.luns.registrations();
  if (registrations.reservations() != nullptr && registrations.reservations()->undecided())
    return {};  // its LUNs cannot be read yet
  const auto self = view.heads.find(head_.config.head_name);
  if (self == view.heads.end() || self->second.record.incarnation() != head_.incarnation) return {};
  records::HeadRecord head = self->second.record;
  head.clear_luns();
  {
    // No scan now: what it finds and the supervisors' notice of it belong together.
    const MutexLock scanning(parts_.luns.no_scan());
    const auto ill = parts_.luns.canaries().ill();
    for (const instance::LunPath& lun : parts_.luns.open_luns().paths()) {
      // An instance that meets a LUN where others are registered and this head is not would end.
      if (ill.contains(lun.uuid) || !registrations.is_registered_on(view, lun.name, lun.path))
        continue;
      SYMNAS_ASSIGN(const Uuid uuid, Uuid::parse(lun.uuid));
      head.add_luns(cvm::uuid_to_bytes(uuid));
    }
    head.clear_ill_networks();
    for (const auto& [name, why] : parts_.heads.networks().ill()) head.add_ill_networks(name);
    const auto& said = self->second.record;
    if (head.luns_known() && std::ranges::equal(said.luns(), head.luns()) &&
        std::ranges::equal(said.ill_networks(), head.ill_networks())) {
      return {};
    }
    head.set_luns_known(true);
    unpublished_ = !parts_.instances.is_refreshed();
  }
  if (unpublished_) return {};
  const std::string key = kv::keys::kHeads + head_.config.head_name;
  kv::Txn txn;
  txn.compares.push_back(kv::mod_revision_is(key, self->second.mod_revision));
  txn.success.push_back(kv::put(key, head.SerializeAsString()));
  SYMNAS_ASSIGN(const kv::TxnResult result, kv::txn_blocking(head_.store, txn, kStoreDeadlineMs));
  unpublished_ = !result.succeeded;
  return {};
}

}  // namespace symnas::vnfsd::daemon
