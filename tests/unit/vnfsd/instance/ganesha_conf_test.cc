#include "vnfsd/instance/ganesha_conf.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/instance/test_plan.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr const char* kGolden = R"(# VNFS vnfs1, epoch 17. Written by vnfsd; changes are lost.

NFS_CORE_PARAM {
  Protocols = 3, 4;
  NFS_Port = 2049;
  MNT_Port = 20048;
  NLM_Port = 32803;
  Rquota_Port = 875;
  Enable_RQUOTA = true;
  Enable_UDP = mount_rquota;
  RPC_Ioq_ThrdMax = 1024;
  RPC_Max_Connections = 61440;
  Plugins_Dir = "/usr/lib/symnas/ganesha/lib/ganesha";
  Getattrs_In_Complete_Read = false;
  Blocked_Lock_Poller_Interval = 1;
  Allow_Set_IO_Flusher_Fail = true;
  Clustered = false;
  mount_path_pseudo = true;
  heartbeat_freq = 0;
  Enable_NFS_Stats = false;
}

NFSv4 {
  Minor_Versions = 0, 1, 2;
  Graceless = true;
  Lease_Lifetime = 20;
  Grace_Period = 20;
  Expired_Client_Threshold = 0;
  Server_Owner = "vnfs1.00112233-4455-4677-8899-aabbccddeeff";
  Server_Scope = "vnfs1";
  Only_Numeric_Owners = true;
  Allow_Numeric_Owners = true;
  RecoveryBackend = fs;
  RecoveryRoot = "/run/symnas/vnfs/vnfs1/recovery";
}

DIRECTORY_SERVICES {
  Idmapping_Active = false;
}

NFS_KRB5 {
  Active_krb5 = false;
}

MDCACHE {
  Dir_Chunk = 0;
  Use_Cached_Owner_On_Owner_Override = false;
}

EXPORT_DEFAULTS {
  Anonymous_Uid = 65534;
  Anonymous_Gid = 65534;
}

LOG {
  Default_Log_Level = EVENT;
}

CLUSTER {
  Instance_File = "/run/symnas/vnfs/vnfs1/instance.json";
}

EXPORT {
  Export_Id = 5;
  Path = "/u04";
  Pseudo = "/u04";
  Tag = "u04";
  Protocols = 3, 4;
  Transports = TCP;
  SecType = sys;
  Access_Type = None;
  Squash = Root_Squash;
  Attr_Expiration_Time = 0;
  MaxRead = 1048576;
  MaxWrite = 1048576;
  PrefRead = 1048576;
  PrefWrite = 1048576;
  FSAL {
    Name = CLUSTER;
    Filesystem = "u04";
    Subtree = "/data";
  }
  CLIENT {
    Clients = 10.9.0.7/32, 10.0.0.0/24;
    Access_Type = RW;
    Squash = Root_Id_Squash;
    Anonymous_Uid = 65534;
    Anonymous_Gid = 65534;
  }
}
)";

TEST(GaneshaConf, Golden) { EXPECT_EQ(*render_ganesha_conf(test_plan(), cluster_fsal()), kGolden); }

TEST(GaneshaConf, AccessAndSquash) {
  InstancePlan plan = test_plan();
  plan.exports[0].set_access(records::ACCESS_RO);
  plan.exports[0].set_squash(records::SQUASH_ALL);
  EXPECT_NE(render_ganesha_conf(plan, cluster_fsal())
                ->find("    Access_Type = RO;\n    Squash = All_Squash;\n"),
            std::string::npos);
  plan.exports[0].set_squash(records::SQUASH_NONE);
  EXPECT_NE(render_ganesha_conf(plan, cluster_fsal())->find("    Squash = No_Root_Squash;\n"),
            std::string::npos);
}

TEST(GaneshaConf, SecurityOfRules) {
  InstancePlan plan = test_plan();
  plan.exports[0].add_sec(records::SECURITY_KRB5P);
  plan.exports[0].add_sec(records::SECURITY_KRB5);
  records::ClientRule& rule = *plan.exports[0].add_rules();
  rule.set_who("10.0.0.7/32");
  rule.add_sec(records::SECURITY_SYS);
  const std::string conf = *render_ganesha_conf(plan, cluster_fsal());
  const auto block = [&](const std::string& client) {
    const std::size_t at = conf.find("    Clients = " + client + ";\n");
    return conf.substr(at, conf.find("  }\n", at) - at);
  };
  const std::string wanted = "    SecType = krb5p, krb5;\n";
  EXPECT_NE(block("10.0.0.0/24").find(wanted), std::string::npos);
  EXPECT_NE(block("10.9.0.7/32").find(wanted), std::string::npos);
  EXPECT_EQ(block("10.0.0.7/32").find("SecType"), std::string::npos);
}

TEST(GaneshaConf, AnonymousIds) {
  InstancePlan plan = test_plan();
  plan.exports[0].set_anon_uid(0);
  plan.exports[0].set_anon_gid(99);
  EXPECT_NE(render_ganesha_conf(plan, cluster_fsal())
                ->find("    Anonymous_Uid = 0;\n    Anonymous_Gid = 99;\n"),
            std::string::npos);
}

TEST(GaneshaConf, RulesStandInTheOrderInWhichTheyHold) {
  InstancePlan plan = test_plan();
  records::ExportRecord& exported = plan.exports[0];
  exported.clear_clients();
  exported.add_clients("*");
  exported.set_manage_gids(true);
  const auto rule = [&](const char* who) -> records::ClientRule& {
    records::ClientRule& added = *exported.add_rules();
    added.set_who(who);
    return added;
  };
  rule("@friends").set_access(records::ACCESS_RO);
  rule("10.0.0.0/8").set_access(records::ACCESS_RO);
  rule("10.0.0.0/24").set_anon_uid(70);
  rule("*.example.org").set_squash(records::SQUASH_ALL);
  rule("db1.example.org").set_squash(records::SQUASH_NONE);
  rule("10.0.0.7/32").set_squash(records::SQUASH_NONE);
  const std::string conf = *render_ganesha_conf(plan, cluster_fsal());
  std::size_t at = 0;
  for (const char* block :
       {"    Clients = \"db1.example.org\", 10.0.0.7/32;\n    Access_Type = RW;\n"
        "    Squash = No_Root_Squash;\n",
        "    Clients = 10.0.0.0/24;\n    Access_Type = RW;\n    Squash = Root_Id_Squash;\n"
        "    Anonymous_Uid = 70;\n    Anonymous_Gid = 65534;\n    Manage_Gids = true;\n",
        "    Clients = 10.0.0.0/8;\n    Access_Type = RO;\n",
        "    Clients = \"*.example.org\";\n    Access_Type = RW;\n    Squash = All_Squash;\n",
        "    Clients = \"@friends\";\n    Access_Type = RO;\n",
        "    Clients = *;\n    Access_Type = RW;\n"}) {
    const std::size_t found = conf.find(block, at);
    ASSERT_NE(found, std::string::npos) << block << conf;
    at = found;
  }
}

TEST(GaneshaConf, OneBlockPerExport) {
  InstancePlan plan = test_plan();
  plan.exports.push_back(plan.exports[0]);
  plan.exports[1].set_name("u05");
  plan.exports[1].set_export_id(6);
  const std::string conf = *render_ganesha_conf(plan, cluster_fsal());
  EXPECT_NE(conf.find("Export_Id = 5;"), std::string::npos);
  EXPECT_NE(conf.find("Export_Id = 6;\n  Path = \"/u05\";"), std::string::npos);
}

// Names are checked when objects are made; a record that got past that must not become
// configuration.
TEST(GaneshaConf, RefusesWhatCouldBreakOutOfItsQuotes) {
  for (const char* evil : {"x\"; Squash = None; #", "a\\", "a\nb"}) {
    InstancePlan plan = test_plan();
    plan.exports[0].set_path(evil);
    EXPECT_EQ(render_ganesha_conf(plan, cluster_fsal()).error().code, ErrorCode::kInvalidArgument);
    plan = test_plan();
    plan.exports[0].set_filesystem(evil);
    EXPECT_FALSE(render_ganesha_conf(plan, cluster_fsal()));
    plan = test_plan();
    plan.exports[0].set_clients(0, evil);
    EXPECT_FALSE(render_ganesha_conf(plan, cluster_fsal()));
  }
}

TEST(GaneshaConf, PathThatClientsMount) {
  InstancePlan plan = test_plan();
  plan.exports[0].set_pseudo("/db/one");
  EXPECT_NE(render_ganesha_conf(plan, cluster_fsal())
                ->find("  Path = \"/u04\";\n  Pseudo = \"/db/one\";\n  Tag = \"u04\";\n"),
            std::string::npos);
}

TEST(GaneshaConf, EverybodyIsAStar) {
  InstancePlan plan = test_plan();
  plan.exports[0].clear_clients();
  plan.exports[0].add_clients("*");
  EXPECT_NE(render_ganesha_conf(plan, cluster_fsal())->find("    Clients = *;\n"),
            std::string::npos);
}

TEST(GaneshaConf, ClientsAreWrittenAsItsParserTakesThem) {
  InstancePlan plan = test_plan();
  plan.exports[0].clear_clients();
  for (const char* client : {"0.0.0.0/0", "::/0", "fd00::7/128", "fd00::/64"})
    plan.exports[0].add_clients(client);
  EXPECT_NE(
      render_ganesha_conf(plan, cluster_fsal())
          ->find("    Clients = fd00::7, fd00::/64, 0.0.0.0/1, 128.0.0.0/1, ::/1, 8000::/1;\n"),
      std::string::npos);
}

}  // namespace
}  // namespace symnas::vnfsd::instance
