// InstancePlan: everything that decides how an instance is started. ganesha.conf, instance.json and
// the launch specification are rendered from it. Value type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "vnfsd/address/link.h"
#include "vnfsd/config/config.h"
#include "vnfsd/instance/connections.h"
#include "vnfsd/network/net_address.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::instance {

// One link of the VNFS's namespace: all its VIPs of one network.
struct LinkPlan {
  std::string network;
  std::string device;     // of the head
  std::string link;       // inside the namespace
  std::uint32_t mtu = 0;  // 0 = the device's
  std::string gateway;    // as the network's record has it; "" = none
  std::vector<Cidr> vips;
  // MACs with which an instance of this VNFS, on any head, may answer for these VIPs: the VNFS is
  // being moved, or its head is going down.
  std::vector<address::MacAddress> own_macs;
};

struct LunPath {
  std::string name;
  std::string uuid;  // text
  std::string path;  // canonical node on this head
  // What the path names (cvm::LunNode): whose OFD locks the instance will have.
  std::uint64_t lock_device = 0;
  std::uint64_t lock_inode = 0;
};

// Files and directories of one instance, all below run_dir but the log.
struct InstancePaths {
  std::string directory;  // run_dir/vnfs/<vnfs>
  std::string ganesha_conf;
  std::string instance_file;  // instance.json, read by the plugin
  std::string problems_file;  // written by the plugin
  std::string memory_file;    // the same
  std::string control;        // socket, made by the plugin
  std::string state_file;     // state.json, read by the next vnfsd
  std::string pid_file;
  std::string recovery_root;
  std::string keytab;     // while it runs, if the VNFS has one (keytab_writer.h)
  std::string krb5_conf;  // the same
  std::string stage;      // becomes /run of the instance
  std::string log;
};
InstancePaths paths_for(const Config& config, const std::string& vnfs);

struct InstancePlan {
  std::string vnfs;
  VnfsId vnfs_id;
  std::string scope;  // server_identity.h
  Epoch epoch;
  std::string incarnation;  // boot id of the head
  std::string owner_key;
  Revision owner_mod_revision;
  bool standby = false;     // the VNFS is not claimed yet
  bool is_awaited = false;  // a standby, while nobody serves the VNFS's clients
  std::vector<LinkPlan> links;
  std::vector<records::ExportRecord> exports;
  std::string exports_digest;                   // vnfsd/plans/exports.h
  std::optional<records::KeytabRecord> keytab;  // sealed; nullopt: the VNFS has none
  std::string keytab_subject;                   // vnfsd/plans/plan_keytab.h
  std::vector<LunPath>
      luns;  // every LUN this head has open: a volume may grow while the instance runs
  std::vector<Connection> connections;  // of the clients, at the end of the last instance
  Config config;
  InstancePaths paths;

  // Of its principals; "" = it has no keytab.
  std::string realm() const;
};

// The MAC of a link of an instance that found its usual one in use on its head.
address::MacAddress spare_mac(const std::string& head, const std::string& vnfs,
                              const std::string& network, Epoch epoch);

// Makes the plan from the records. epoch, owner and luns are left to the caller. Errors: kNotFound
// (the VNFS, or something it names, is gone).
Result<InstancePlan> plan_instance(const ClusterView& view, const Config& config,
                                   const std::string& vnfs);

// Whether a standby that was started by `prepared` may serve what was claimed. It has read its
// exports from its configuration by then. So it must not be called when other rules hold by now, or
// with a filesystem that the proof of its end would not cover (INV-1).
bool may_call(const InstancePlan& prepared, const InstancePlan& claimed);

}  // namespace symnas::vnfsd::instance
