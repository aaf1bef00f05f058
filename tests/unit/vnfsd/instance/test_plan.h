// An InstancePlan with a value in every field, for the golden tests of what is rendered from it.
#pragma once

#include "vnfsd/instance/plan.h"

namespace symnas::vnfsd::instance {

inline InstancePlan test_plan() {
  InstancePlan plan;
  plan.vnfs = "vnfs1";
  plan.vnfs_id = VnfsId(3);
  plan.scope = "vnfs1";  // one that was made before scopes named the cluster
  plan.epoch = Epoch(17);
  plan.incarnation = "boot-id";
  plan.owner_key = "c/owner/vnfs1";
  plan.owner_mod_revision = Revision(123);
  plan.config.head_name = "c1n1";
  plan.config.cluster_uuid = *Uuid::parse("00112233-4455-4677-8899-aabbccddeeff");
  plan.config.etcd.endpoints = {"https://10.99.0.1:2379"};
  plan.config.etcd.ca = "/etc/symnas/tls/ca.crt";
  plan.config.etcd.cert = "/etc/symnas/tls/head.crt";
  plan.config.etcd.key = "/etc/symnas/tls/head.key";
  plan.config.ganesha.plugin_dir = "/usr/lib/symnas/ganesha/lib/ganesha";
  plan.paths = paths_for(plan.config, "vnfs1");
  plan.luns = {{"LUN0", "00112233-4455-6677-8899-aabbccddeeff", "/dev/sda"}};
  plan.links = {{"nfs0", "eth1", "nfs0", 0, "", {*Cidr::parse("10.0.0.101/24")}}};
  records::ExportRecord exported;
  exported.set_name("u04");
  exported.set_export_id(5);
  exported.set_filesystem("u04");
  exported.set_path("/data");
  exported.add_clients("10.0.0.0/24");
  exported.add_clients("10.9.0.7/32");
  plan.exports = {exported};
  return plan;
}

}  // namespace symnas::vnfsd::instance
