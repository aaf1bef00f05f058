#include "vnfsd/instance/plan.h"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/kv/keys.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/server_identity.h"
#include "vnfsd/plans/exports.h"
#include "vnfsd/plans/keytab.h"
#include "vnfsd/plans/plan_keytab.h"

namespace symnas::vnfsd::instance {

InstancePaths paths_for(const Config& config, const std::string& vnfs) {
  InstancePaths paths;
  paths.directory = config.daemon.run_dir + "/vnfs/" + vnfs;
  paths.ganesha_conf = paths.directory + "/ganesha.conf";
  paths.instance_file = paths.directory + "/instance.json";
  paths.problems_file = paths.directory + "/problems";
  paths.memory_file = paths.directory + "/memory";
  paths.state_file = paths.directory + "/state.json";
  paths.control = paths.directory + "/control";
  paths.pid_file = paths.directory + "/ganesha.pid";
  paths.recovery_root = paths.directory + "/recovery";
  paths.keytab = paths.directory + "/krb5.keytab";
  paths.krb5_conf = paths.directory + "/krb5.conf";
  paths.stage = paths.directory + "/stage";
  paths.log = config.daemon.log_dir + "/" + vnfs + ".log";
  return paths;
}

namespace {

// By head: macvlan's of its link, and those of its devices, which an ipvlan link has in common.
std::vector<address::MacAddress> own_macs(const ClusterView& view, const std::string& vnfs,
                                          const std::string& network) {
  std::vector<address::MacAddress> macs;
  for (const auto& [name, head] : view.heads) {
    macs.push_back(address::mac_for(name, vnfs, network));
    for (const std::string& bytes : head.record.macs()) {
      address::MacAddress mac{};
      if (bytes.size() != mac.size()) continue;
      std::copy(bytes.begin(), bytes.end(), mac.begin());
      macs.push_back(mac);
    }
  }
  const auto owner = view.owners.find(vnfs);
  if (owner != view.owners.end()) {
    macs.push_back(
        spare_mac(owner->second.record.head(), vnfs, network, Epoch(owner->second.record.epoch())));
  }
  return macs;
}

}  // namespace

address::MacAddress spare_mac(const std::string& head, const std::string& vnfs,
                              const std::string& network, Epoch epoch) {
  return address::mac_for(fmt::format("{} {}", head, epoch.value()), vnfs, network);
}

Result<InstancePlan> plan_instance(const ClusterView& view, const Config& config,
                                   const std::string& vnfs) {
  SYMNAS_ASSIGN(const auto* stored, find(view.vnfses, "vnfs", vnfs));
  InstancePlan plan;
  plan.vnfs = vnfs;
  plan.vnfs_id = VnfsId(stored->record.vnfs_id());
  plan.scope = server_scope(config.cluster_uuid, stored->record);
  plan.owner_key = kv::keys::kOwners + vnfs;
  plan.config = config;
  plan.paths = paths_for(config, vnfs);
  for (const records::Vip& vip : stored->record.vips()) {
    SYMNAS_ASSIGN(const IpAddress address, IpAddress::parse(vip.address()));
    LinkPlan* link = nullptr;
    for (LinkPlan& known : plan.links) {
      if (known.network == vip.network()) link = &known;
    }
    if (link == nullptr) {
      SYMNAS_ASSIGN(const auto* network, find(view.networks, "network", vip.network()));
      link = &plan.links.emplace_back();
      link->network = vip.network();
      link->device = network->record.device();
      link->link = fmt::format("{}{}", kLinkPrefix, plan.links.size() - 1);
      link->mtu = network->record.mtu();
      link->gateway = network->record.gateway();
      link->own_macs = own_macs(view, vnfs, vip.network());
    }
    link->vips.push_back({address, vip.prefix_length()});
  }
  const auto connections = view.connections.find(vnfs);
  if (connections != view.connections.end()) {
    const records::ConnectionsRecord& record = connections->second.record;
    for (const std::string& text : record.tcp()) {
      if (const auto connection = Connection::parse(text)) plan.connections.push_back(*connection);
    }
    for (const std::string& text : record.unheard()) {
      if (const auto connection = Connection::parse(text))
        add_missing(plan.connections, {*connection});
    }
  }
  for (const std::string& name : stored->record.exports()) {
    SYMNAS_ASSIGN(const auto* exported, find(view.exports, "export", name));
    plan.exports.push_back(exported->record);
  }
  plan.exports_digest = exports_digest(view, stored->record, config.head_name);
  if (const auto keytab = view.keytabs.find(vnfs); keytab != view.keytabs.end()) {
    plan.keytab = keytab->second.record;
    plan.keytab_subject = keytab_subject(view, vnfs);
  }
  return plan;
}

std::string InstancePlan::realm() const {
  if (!keytab || keytab->keys().empty()) return "";
  return realm_of(keytab->keys(0).principal());
}

bool may_call(const InstancePlan& prepared, const InstancePlan& claimed) {
  return prepared.epoch == claimed.epoch && prepared.exports_digest == claimed.exports_digest;
}

}  // namespace symnas::vnfsd::instance
