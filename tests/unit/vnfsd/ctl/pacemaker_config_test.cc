// What pacemaker is told, as text: "# what", then the commands of pcs; "! warning".
#include "vnfsd/ctl/pacemaker_config.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/quickstart_plan.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json vnfs(const std::string& name, const std::vector<std::string>& heads,
          const std::string& failback = "manual") {
  return {{"name", name}, {"heads", heads}, {"failback", failback}, {"wanted", "started"}};
}

class PacemakerConfig : public ::testing::Test {
 protected:
  PacemakerConfig() {
    for (const char* head : {"a", "b", "c"}) heads.push_back({{"name", head}});
    vnfses.push_back(vnfs("v1", {"b", "a"}));
    cib.nodes = {"a", "b", "c"};
    cib.properties = {
        {"stonith-enabled", "true"}, {"stonith-action", "off"}, {"no-quorum-policy", "freeze"}};
    cib.resources.push_back({"ipmi", "stonith:fence_ipmilan", "", {}, {}, {}});
    cib.resources.push_back({"v1",
                             kVnfsAgent,
                             "",
                             {{"vnfs", "v1"}},
                             {{"allow-migrate", "true"}, {"resource-stickiness", "2000"}},
                             {{"monitor", {{"interval", "10s"}, {"timeout", "40s"}}}}});
    cib.locations = {{"location-v1-a-950", "v1", "a", "950"},
                     {"location-v1-b-1000", "v1", "b", "1000"},
                     {"location-v1-c--INFINITY", "v1", "c", "-INFINITY"}};
  }
  CibResource& resource() { return cib.resources[1]; }

  static std::string text_of(const PacemakerPlan& plan) {
    std::string out = "\n";
    for (const PacemakerStep& step : plan.steps) {
      out += "# " + step.what + "\n";
      for (const Words& words : step.pcs) out += shell_command(words) + "\n";
    }
    for (const std::string& warning : plan.warnings) out += "! " + warning + "\n";
    return out;
  }
  std::string changes() const { return text_of(pacemaker_changes({vnfses, heads, decider}, cib)); }

  json vnfses = json::array();
  json heads = json::array();
  std::string decider = "pacemaker";
  Cib cib;
};

TEST_F(PacemakerConfig, AClusterWithoutAnything) {
  EXPECT_EQ(text_of(pacemaker_setup({vnfses, heads, decider})), R"(
# property stonith-enabled is not set: without fencing nothing moves from a lost head
pcs property set stonith-enabled=true
# property stonith-action is not set: only a head that was turned off is a proof
pcs property set stonith-action=off
# property no-quorum-policy is not set: VNFSs go on without corosync's quorum; etcd says who serves
pcs property set no-quorum-policy=freeze
# there is no stonith device: fence_symnas has symnas fence (each head needs [fence] in vnfsd.toml: reservations or an agent); one of your own does as well
pcs stonith create symnas-fence fence_symnas pcmk_off_timeout=120s op monitor interval=60s timeout=30s
# vnfs v1: it has no resource
pcs resource create v1 ocf:symnas:vnfs vnfs=v1 op start timeout=120s op stop timeout=90s op monitor interval=10s timeout=40s op migrate_to timeout=120s op migrate_from timeout=60s op reload timeout=40s meta allow-migrate=true resource-stickiness=2000 migration-threshold=2 failure-timeout=120s is-managed=false
pcs constraint location v1 prefers a=950 b=1000 c=-INFINITY
pcs resource manage v1
)");
}

TEST_F(PacemakerConfig, TheSameByCrm) {
  std::string out;
  for (const PacemakerStep& step : pacemaker_setup({vnfses, heads, decider}).steps) {
    for (const Words& words : step.crm) out += shell_command(words) + "\n";
  }
  EXPECT_THAT(out, HasSubstr("crm configure property stonith-action=off\n"));
  EXPECT_THAT(out,
              HasSubstr("crm configure primitive v1 ocf:symnas:vnfs params vnfs=v1 op start "));
  EXPECT_THAT(out, HasSubstr("crm configure location location-v1-b-1000 v1 1000: b\n"));
}

TEST_F(PacemakerConfig, NothingWhereAllIsAsItShouldBe) { EXPECT_EQ(changes(), "\n"); }

TEST_F(PacemakerConfig, AVnfsThatCameLater) {
  vnfses.push_back(vnfs("7v", {"a"}, "auto"));
  EXPECT_THAT(changes(), HasSubstr("pcs resource create vnfs-7v ocf:symnas:vnfs vnfs=7v op "));
  EXPECT_THAT(changes(), HasSubstr("resource-stickiness=0 "));
  EXPECT_THAT(changes(),
              HasSubstr("pcs constraint location vnfs-7v prefers a=1000 b=-INFINITY c=-INFINITY"));
}

TEST_F(PacemakerConfig, PropertiesThatCostProofs) {
  cib.properties = {
      {"stonith-enabled", "false"}, {"stonith-action", "reboot"}, {"no-quorum-policy", "ignore"}};
  const std::string text = changes();
  EXPECT_THAT(text, HasSubstr("# property stonith-enabled is false: "));
  EXPECT_THAT(text, HasSubstr("# property stonith-action is reboot: "));
  EXPECT_THAT(text, HasSubstr("# property no-quorum-policy is ignore: "));
  cib.properties = {
      {"stonith-enabled", "true"}, {"stonith-action", "off"}, {"no-quorum-policy", "stop"}};
  EXPECT_EQ(changes(), "\n");
}

TEST_F(PacemakerConfig, AnotherOrderOfHeads) {
  vnfses[0] = vnfs("v1", {"c", "b"});
  EXPECT_EQ(changes(), R"(
# resource v1: its scores should be -INFINITY on a, not 950, 950 on b, not 1000, 1000 on c, not -INFINITY
pcs constraint location v1 prefers a=-INFINITY b=950 c=1000
)");
  const PacemakerPlan plan = pacemaker_changes({vnfses, heads, decider}, cib);
  ASSERT_EQ(plan.steps[0].crm.size(), 6U);
  EXPECT_EQ(shell_command(plan.steps[0].crm[0]), "crm configure delete location-v1-a-950");
  EXPECT_EQ(shell_command(plan.steps[0].crm[5]),
            "crm configure location location-v1-c-1000 v1 1000: c");
}

TEST_F(PacemakerConfig, AHeadThatHasComeAndOneThatHasGone) {
  heads.erase(2);
  heads.push_back({{"name", "d"}});
  cib.nodes = {"a", "b", "d"};
  EXPECT_EQ(changes(), R"(
# resource v1: c is no head any more
pcs constraint delete location-v1-c--INFINITY
# resource v1: its scores should be -INFINITY on d, not none
pcs constraint location v1 prefers d=-INFINITY
)");
}

TEST_F(PacemakerConfig, ConstraintsOfOthersAreOnlyNamed) {
  cib.locations.push_back({"cli-prefer-v1", "v1", "c", "INFINITY"});
  EXPECT_EQ(changes(), R"(
! resource v1: the constraint cli-prefer-v1 (c, score INFINITY) stands beside the order of its heads (pcs resource clear v1, or pcs constraint delete cli-prefer-v1)
)");
}

TEST_F(PacemakerConfig, WhatMakesMovesWorse) {
  resource().meta = {{"resource-stickiness", "100"}};
  resource().operations.clear();
  EXPECT_EQ(changes(), R"(
# resource v1: allow-migrate is not true: moves lose locks
pcs resource meta v1 allow-migrate=true
# resource v1: resource-stickiness is 100, and its failback is manual
pcs resource meta v1 resource-stickiness=2000
# resource v1: it is not monitored
pcs resource update v1 op monitor interval=10s timeout=40s
)");
}

TEST_F(PacemakerConfig, AMonitorThatDoesNotWaitForVnfsd) {
  resource().parameters["vnfsd_grace"] = "50";
  EXPECT_THAT(changes(), HasSubstr("its monitor ends after 40s, a vnfsd that restarts may be away "
                                   "for 50 s\npcs resource update v1 op monitor interval=10s "
                                   "timeout=100s\n"));
}

TEST_F(PacemakerConfig, StickinessOfFailbackAuto) {
  vnfses[0]["failback"] = "auto";
  EXPECT_THAT(changes(), HasSubstr("pcs resource meta v1 resource-stickiness=0\n"));
  resource().meta["resource-stickiness"] = "1";
  EXPECT_EQ(changes(), "\n");
  vnfses[0]["failback"] = "manual";
  resource().meta["resource-stickiness"] = "INFINITY";
  EXPECT_EQ(changes(), "\n");
}

TEST_F(PacemakerConfig, WhatAPersonHasToLookAt) {
  decider = "builtin";
  cib.nodes = {"a", "b", "x"};
  cib.properties["maintenance-mode"] = "true";
  resource().clone = "v1-clone";
  resource().meta["target-role"] = "Stopped";
  cib.resources.push_back({"v1too", kVnfsAgent, "", {{"vnfs", "v1"}}, {}, {}});
  cib.resources.push_back({"old", kVnfsAgent, "", {{"vnfs", "gone"}}, {}, {}});
  vnfses[0]["wanted"] = "stopped";
  const std::string text = changes();
  for (const char* warning :
       {"! resource v1: it is in the clone v1-clone: ", "! resource v1: it is to be stopped",
        "! vnfs v1: it is stopped (symnas vnfs start v1)",
        "! the decider is builtin: ", "! maintenance-mode is true",
        "! node x: no head has this name", "! head c: no node of pacemaker has this name",
        "! resource old: there is no VNFS gone", "! vnfs v1: it has 2 resources: v1, v1too"}) {
    EXPECT_THAT(text, HasSubstr(warning));
  }
}

TEST_F(PacemakerConfig, ADeviceThatCutsLessThanVnfsdBelieves) {
  cib.resources[0].agent = "stonith:fence_scsi";
  for (const char* cuts : {"", "luns"})
    EXPECT_EQ(text_of(pacemaker_changes({vnfses, heads, decider, cuts}, cib)), "\n");
  EXPECT_THAT(text_of(pacemaker_changes({vnfses, heads, decider, "power"}, cib)),
              HasSubstr("! ipmi: stonith:fence_scsi cuts a head off from its LUNs only"));
}

TEST_F(PacemakerConfig, ANameThatSomethingElseHas) {
  resource().agent = "ocf:heartbeat:IPaddr2";
  EXPECT_EQ(changes(), "\n! vnfs v1: it has no resource, and another one is called v1\n");
}

TEST(PacemakerDurations, AsPacemakerWritesThem) {
  EXPECT_EQ(seconds_of("40"), 40);
  EXPECT_EQ(seconds_of("40s"), 40);
  EXPECT_EQ(seconds_of("1500ms"), 1.5);
  EXPECT_EQ(seconds_of("2min"), 120);
  EXPECT_EQ(seconds_of("0"), 0);
  for (const char* none : {"", "s", "-1", "soon", "4 s"}) EXPECT_EQ(seconds_of(none), -1) << none;
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
