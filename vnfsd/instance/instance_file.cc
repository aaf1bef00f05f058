#include "vnfsd/instance/instance_file.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/instance/ganesha_conf.h"
#include "vnfsd/plans/exports.h"
#include "vnfsd/plans/plan_keytab.h"

namespace symnas::vnfsd::instance {
std::string clock_file(const Config& config) { return config.daemon.run_dir + "/clock"; }

Result<std::string> render_instance_file(const InstancePlan& plan) {
  using json = nlohmann::ordered_json;
  json luns = json::array();
  for (const LunPath& lun : plan.luns) {
    luns.push_back({{"name", lun.name}, {"uuid", lun.uuid}, {"path", lun.path}});
  }
  json exports = json::array();
  for (const records::ExportRecord& exported : plan.exports) {
    SYMNAS_ASSIGN(const std::string block, render_export(exported, cluster_fsal()));
    exports.push_back({{"id", exported.export_id()},
                       {"pseudo", pseudo_of(exported)},
                       {"block", block},
                       {"names", names_in_rules(exported)},
                       {"manage_gids", exported.manage_gids()}});
  }
  const EtcdConfig& etcd = plan.config.etcd;
  json document = {{"head", plan.config.head_name},
                   {"vnfs", plan.vnfs},
                   {"vnfs_id", plan.vnfs_id.value()},
                   {"epoch", plan.epoch.value()},
                   {"incarnation", plan.incarnation},
                   {"owner_key", plan.owner_key},
                   {"owner_mod_revision", plan.owner_mod_revision.value()},
                   {"standby", plan.standby},
                   {"etcd",
                    {{"endpoints", etcd.endpoints},
                     {"ca", etcd.ca},
                     {"cert", etcd.cert},
                     {"key", etcd.key},
                     {"quota_bytes", etcd.quota_bytes}}},
                   {"head_netns", fmt::format("/proc/self/fd/{}", kHeadNetnsFd)},
                   {"head_mntns", fmt::format("/proc/self/fd/{}", kHeadMntnsFd)},
                   {"clock_file", clock_file(plan.config)},
                   {"luns", luns},
                   {"exports", exports}};
  if (plan.keytab) {
    document["kerberos"] = {{"keytab", plan.paths.keytab},
                            {"realm", plan.realm()},
                            {"domain", owner_domain_of(*plan.keytab)}};
  }
  return document.dump(2) + "\n";
}

}  // namespace symnas::vnfsd::instance
