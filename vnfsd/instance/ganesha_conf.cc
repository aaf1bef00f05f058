#include "vnfsd/instance/ganesha_conf.h"

#include <vector>

#include <fmt/core.h>

#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/server_identity.h"
#include "vnfsd/network/net_address.h"
#include "vnfsd/plans/exports.h"
#include "vnfsd/plans/security.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr int kMountPort = 20048;  // as the kernel's nfsd by convention
constexpr int kNlmPort = 32803;
constexpr int kRquotaPort = 875;                // as of rpc.rquotad
constexpr std::uint64_t kIoBytesMax = 1 << 20;  // rsize and wsize offered

// ganesha's parser: everything between the quotes is taken as it is, so only these cannot be
// written.
bool quotable(std::string_view value) {
  for (const char c : value) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '"' || c == '\\') return false;
  }
  return true;
}

const char* access_type(records::Access access) {
  return access == records::ACCESS_RO ? "RO" : "RW";
}

const char* squash_type(records::Squash squash) {
  switch (squash) {
    case records::SQUASH_NONE: return "No_Root_Squash";
    case records::SQUASH_ALL: return "All_Squash";
    // As exports(5) has it: uid 0 and gid 0 become the anonymous ones, and nothing else. Protobuf
    // enums are open: this is the safest reading of what is not known.
    default: return "Root_Id_Squash";
  }
}

class ClusterFsal final : public FsalBlocks {
 public:
  std::string export_block(const records::ExportRecord& exported) const override {
    return fmt::format("Name = CLUSTER;\n    Filesystem = \"{}\";\n    Subtree = \"{}\";",
                       exported.filesystem(), exported.path());
  }
  std::string global_blocks(const InstancePlan& plan) const override {
    return fmt::format("\nCLUSTER {{\n  Instance_File = \"{}\";\n}}\n", plan.paths.instance_file);
  }
};

std::string core_blocks(const InstancePlan& plan) {
  const GaneshaConfig& ganesha = plan.config.ganesha;
  return fmt::format(R"(NFS_CORE_PARAM {{
  Protocols = 3, 4;
  NFS_Port = 2049;
  MNT_Port = {};
  NLM_Port = {};
  Rquota_Port = {};
  Enable_RQUOTA = true;
  Enable_UDP = mount_rquota;
  RPC_Ioq_ThrdMax = {};
  RPC_Max_Connections = {};
  Plugins_Dir = "{}";
  Getattrs_In_Complete_Read = false;
  Blocked_Lock_Poller_Interval = 1;
  Allow_Set_IO_Flusher_Fail = true;
  Clustered = false;
  mount_path_pseudo = true;
  heartbeat_freq = 0;
  Enable_NFS_Stats = false;
}}

NFSv4 {{
  Minor_Versions = 0, 1, 2;
  Graceless = true;
  Lease_Lifetime = {};
  Grace_Period = {};
  Expired_Client_Threshold = 0;
  Server_Owner = "{}";
  Server_Scope = "{}";
  Only_Numeric_Owners = true;
  Allow_Numeric_Owners = true;
  RecoveryBackend = fs;
  RecoveryRoot = "{}";
}}

DIRECTORY_SERVICES {{
  Idmapping_Active = false;
}}

NFS_KRB5 {{
  Active_krb5 = false;
}}

MDCACHE {{
  Dir_Chunk = 0;
  Use_Cached_Owner_On_Owner_Override = false;
}}

EXPORT_DEFAULTS {{
  Anonymous_Uid = {};
  Anonymous_Gid = {};
}}

LOG {{
  Default_Log_Level = {};
}}
)",
                     kMountPort, kNlmPort, kRquotaPort, ganesha.threads_max, kClientConnectionsMax,
                     ganesha.plugin_dir, ganesha.lease_s, ganesha.grace_s,
                     server_owner(plan.config.cluster_uuid, plan.vnfs), plan.scope,
                     plan.paths.recovery_root, kNobody, kNobody, ganesha.log_level);
}

// ganesha's parser takes prefix lengths of one or two digits, the first of which is not 0.
std::string client_text(const std::string& client) {
  if (client == "0.0.0.0/0") return "0.0.0.0/1, 128.0.0.0/1";
  if (client == "::/0") return "::/1, 8000::/1";
  return client.ends_with("/128") ? client.substr(0, client.size() - 4) : client;
}

// Clients that stand beside each other and have the same rule share a block: ganesha takes the
// first block in which it finds a client.
std::string client_blocks(const records::ExportRecord& exported) {
  const auto same = [](const EffectiveRule& a, const EffectiveRule& b) {
    return a.access == b.access && a.squash == b.squash && a.anon.uid == b.anon.uid &&
           a.anon.gid == b.anon.gid && a.security == b.security;
  };
  std::string blocks;
  std::string clients;
  const std::vector<EffectiveRule> rules = effective_rules(exported);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const EffectiveRule& rule = rules[i];
    if (!clients.empty()) clients += ", ";
    // ganesha is not to resolve a name itself: what is quoted it asks the plugin about.
    clients +=
        classify_who(rule.who).is_name ? fmt::format("\"{}\"", rule.who) : client_text(rule.who);
    if (i + 1 < rules.size() && same(rule, rules[i + 1])) continue;
    blocks += fmt::format(R"(  CLIENT {{
    Clients = {};
    Access_Type = {};
    Squash = {};
    Anonymous_Uid = {};
    Anonymous_Gid = {};
)",
                          clients, access_type(rule.access), squash_type(rule.squash),
                          rule.anon.uid, rule.anon.gid);
    if (rule.security != std::vector{records::SECURITY_SYS})
      blocks += fmt::format("    SecType = {};\n", security_text(rule.security, ", "));
    if (exported.manage_gids()) blocks += "    Manage_Gids = true;\n";
    blocks += "  }\n";
    clients.clear();
  }
  return blocks;
}

std::string export_block(const records::ExportRecord& exported, const FsalBlocks& fsal) {
  return fmt::format(R"(
EXPORT {{
  Export_Id = {};
  Path = "/{}";
  Pseudo = "{}";
  Tag = "{}";
  Protocols = 3, 4;
  Transports = TCP;
  SecType = sys;
  Access_Type = None;
  Squash = Root_Squash;
  Attr_Expiration_Time = 0;
  MaxRead = {};
  MaxWrite = {};
  PrefRead = {};
  PrefWrite = {};
  FSAL {{
    {}
  }}
{}}}
)",
                     exported.export_id(), exported.name(), pseudo_of(exported), exported.name(),
                     kIoBytesMax, kIoBytesMax, kIoBytesMax, kIoBytesMax,
                     fsal.export_block(exported), client_blocks(exported));
}

Status check_quotable(std::string_view what, std::string_view value) {
  if (quotable(value)) return {};
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("ganesha.conf: {} '{}': cannot be written there (no quotes, backslashes or "
                  "control characters)",
                  what, value));
}

}  // namespace

const FsalBlocks& cluster_fsal() {
  static const ClusterFsal fsal;
  return fsal;
}

Result<std::string> render_export(const records::ExportRecord& exported, const FsalBlocks& fsal) {
  SYMNAS_TRY(check_quotable("export", exported.name()));
  SYMNAS_TRY(check_quotable("filesystem", exported.filesystem()));
  SYMNAS_TRY(check_quotable("path", exported.path()));
  SYMNAS_TRY(check_quotable("path that clients mount", exported.pseudo()));
  // Addresses are not quoted there, names are: both are what normalise_who() lets through.
  for (const EffectiveRule& rule : effective_rules(exported)) {
    SYMNAS_ASSIGN(const std::string normalised, normalise_who(rule.who));
    if (normalised != rule.who) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("ganesha.conf: client '{}': cannot be written there", rule.who));
    }
  }
  return export_block(exported, fsal);
}

Result<std::string> render_ganesha_conf(const InstancePlan& plan, const FsalBlocks& fsal) {
  SYMNAS_TRY(check_quotable("VNFS name", plan.vnfs));
  SYMNAS_TRY(check_quotable("plugin_dir", plan.config.ganesha.plugin_dir));
  SYMNAS_TRY(check_quotable("run_dir", plan.paths.directory));
  std::string conf = fmt::format("# VNFS {}, epoch {}. Written by vnfsd; changes are lost.\n\n",
                                 plan.vnfs, plan.epoch.value());
  conf += core_blocks(plan);
  conf += fsal.global_blocks(plan);
  for (const records::ExportRecord& exported : plan.exports) {
    SYMNAS_ASSIGN(const std::string block, render_export(exported, fsal));
    conf += block;
  }
  return conf;
}

}  // namespace symnas::vnfsd::instance
