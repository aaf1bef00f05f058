#include "vnfsd/ctl/keepalived_config.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

json vnfs(const std::string& name, unsigned id, const std::vector<std::string>& heads,
          const std::string& failback = "manual") {
  return {{"name", name}, {"vnfs_id", id}, {"heads", heads}, {"failback", failback}};
}

const json kHeads = {{{"name", "c1n1"}, {"address", "10.0.0.1"}},
                     {{"name", "c1n2"}, {"address", "10.0.0.2"}},
                     {{"name", "c1n3"}, {"address", "10.0.0.3"}}};

std::string config(const std::vector<json>& vnfses, const std::string& head,
                   const json& heads = kHeads) {
  const auto text = keepalived_config(json(vnfses), heads, {head, "eth0"});
  return text ? *text : "error: " + text.error().message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(KeepalivedConfig, AVnfsIsAnInstance) {
  const std::string text = config({vnfs("v1", 7, {"c1n2", "c1n1", "c1n3"})}, "c1n1");
  EXPECT_TRUE(has(text, R"(
vrrp_instance symnas_v1 {
  state BACKUP
  nopreempt
  interface eth0
  virtual_router_id 7
  priority 200
  advert_int 0.2
  unicast_src_ip 10.0.0.1
  unicast_peer {
    10.0.0.2
    10.0.0.3
  }
  virtual_ipaddress {
    127.0.66.7/32 dev lo
  }
  track_script {
    symnas_v1
  }
  track_file {
    symnas_v1
  }
}
)")) << text;
  EXPECT_TRUE(has(text, "script \"/usr/lib/symnas/keepalived-track v1\"\n"));
  EXPECT_TRUE(has(text, "file /run/symnas-keepalived/v1.priority\n"));
}

TEST(KeepalivedConfig, GlobalSettingsComeFirst) {
  const std::string text = config({}, "c1n1");
  for (const char* line :
       {"  enable_script_security\n", "  script_user root\n", "  vrrp_version 3\n",
        "  vrrp_higher_prio_send_advert true\n", "  router_id c1n1\n",
        "  vrrp_notify_fifo /run/symnas-keepalived/notify\n",
        "  vrrp_notify_fifo_script /usr/lib/symnas/keepalived-notify\n"}) {
    EXPECT_TRUE(has(text, line)) << line;
  }
  EXPECT_FALSE(has(text, "vrrp_instance"));
}

TEST(KeepalivedConfig, FailbackIsPreemption) {
  EXPECT_TRUE(has(config({vnfs("v1", 1, {"c1n1", "c1n2"}, "auto")}, "c1n1"),
                  "  state BACKUP\n  preempt_delay 30\n"));
  EXPECT_TRUE(
      has(config({vnfs("v1", 1, {"c1n1", "c1n2"})}, "c1n1"), "  state BACKUP\n  nopreempt\n"));
}

TEST(KeepalivedConfig, AHeadHasTheInstancesOfItsVnfsesOnly) {
  const std::vector<json> vnfses = {vnfs("v1", 1, {"c1n1", "c1n2"}),
                                    vnfs("v2", 2, {"c1n3", "c1n2"})};
  EXPECT_FALSE(has(config(vnfses, "c1n1"), "symnas_v2"));
  const std::string both = config(vnfses, "c1n2");
  EXPECT_TRUE(has(both, "vrrp_instance symnas_v1"));
  EXPECT_TRUE(has(both, "vrrp_instance symnas_v2"));
}

TEST(KeepalivedConfig, AVnfsOfOneHeadHasNoPeers) {
  const std::string text = config({vnfs("v1", 1, {"c1n1"})}, "c1n1");
  EXPECT_TRUE(has(text, "  priority 250\n"));
  EXPECT_FALSE(has(text, "unicast_peer"));
}

TEST(KeepalivedConfig, PrioritiesAreFarApart) {
  EXPECT_EQ(vrrp_priority(0, 1), 250);
  EXPECT_EQ(vrrp_priority(1, 2), 200);
  EXPECT_EQ(vrrp_priority(2, 3), 150);
  EXPECT_EQ(vrrp_priority(0, 16), 250);
  EXPECT_EQ(vrrp_priority(14, 16), 26);
  EXPECT_EQ(vrrp_priority(15, 16), 10);
}

TEST(KeepalivedConfig, RouterIdsAreOfTheVnfsId) {
  EXPECT_EQ(virtual_router_id(1), 1u);
  EXPECT_EQ(virtual_router_id(255), 255u);
  EXPECT_EQ(virtual_router_id(256), 1u);
  EXPECT_EQ(virtual_router_id(510), 255u);
}

TEST(KeepalivedConfig, TwoOfOneRouterIdAreRefused) {
  const std::vector<json> vnfses = {vnfs("v1", 1, {"c1n1", "c1n2"}),
                                    vnfs("v256", 256, {"c1n1", "c1n3"})};
  EXPECT_TRUE(has(config(vnfses, "c1n1"), "vnfs v1 and vnfs v256: both would be virtual router 1"));
  EXPECT_TRUE(has(config(vnfses, "c1n2"), "vrrp_instance symnas_v1"))
      << "a head that has one of them only";
}

TEST(KeepalivedConfig, Ipv6) {
  const json heads = {{{"name", "a"}, {"address", "2001:db8::1"}},
                      {{"name", "b"}, {"address", "2001:db8::2"}},
                      {{"name", "c"}, {"address", "10.0.0.3"}}};
  EXPECT_TRUE(
      has(config({vnfs("v1", 17, {"a", "b"})}, "a", heads), "    fe80::66:11/128 dev lo\n"));
  EXPECT_TRUE(has(config({vnfs("v1", 17, {"a", "c"})}, "a", heads), "addresses of two families"));
}

TEST(KeepalivedConfig, AHeadThatIsNone) {
  EXPECT_EQ(config({}, "c1n9"), "error: head c1n9: there is none");
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
