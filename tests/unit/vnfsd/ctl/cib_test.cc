// What is read from a configuration of pacemaker.
#include "vnfsd/ctl/cib.h"

#include <gmock/gmock.h>

namespace symnas::vnfsd::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr const char* kCib = R"(<?xml version="1.0"?>
<!-- as cibadmin prints it -->
<cib crm_feature_set="3.16.2" epoch="9" have-quorum="1" dc-uuid="1">
  <configuration>
    <crm_config>
      <cluster_property_set id="cib-bootstrap-options">
        <nvpair id="o1" name="stonith-action" value="off"/>
      </cluster_property_set>
    </crm_config>
    <nodes>
      <node id="1" uname="c1n1"><instance_attributes id="n1">
        <nvpair id="n1-s" name="standby" value="off"/></instance_attributes></node>
      <node id="2" uname="c1n2"/>
    </nodes>
    <resources>
      <primitive id="vnfs1" class="ocf" provider="symnas" type="vnfs">
        <instance_attributes id="i"><nvpair id="i1" name="vnfs" value="a&lt;&amp;&#233;b"/>
        </instance_attributes>
        <meta_attributes id="m"><nvpair id="m1" name="allow-migrate" value="true"/>
        </meta_attributes>
        <operations>
          <op id="mon" name="monitor" interval="10s" timeout="40s">
            <instance_attributes id="x"><nvpair id="x1" name="deep" value="1"/>
            </instance_attributes></op>
        </operations>
      </primitive>
      <clone id="all"><primitive id="dummy" class="ocf" provider="pacemaker" type="Dummy"/>
        <meta_attributes id="c"><nvpair id="c1" name="clone-max" value="2"/></meta_attributes>
      </clone>
      <primitive id='fence' class='stonith' type='fence_x'/>
    </resources>
    <constraints>
      <rsc_location id="l1" rsc="vnfs1" node="c1n1" score="1000"/>
      <rsc_location id="l2" rsc="vnfs1"><rule id="r" score="-INFINITY">
        <expression id="e" attribute="x" operation="defined"/></rule></rsc_location>
    </constraints>
  </configuration>
  <status><node_state id="1" uname="c1n1"><transient_attributes id="1">
    <instance_attributes id="s"><nvpair id="s1" name="stonith-action" value="reboot"/>
    </instance_attributes></transient_attributes></node_state></status>
</cib>
)";

TEST(Cib, WhatConcernsVnfses) {
  const auto cib = parse_cib(kCib);
  ASSERT_TRUE(cib);
  EXPECT_THAT(cib->properties, ElementsAre(Pair("stonith-action", "off")));
  EXPECT_THAT(cib->nodes, ElementsAre("c1n1", "c1n2"));
  ASSERT_EQ(cib->resources.size(), 3U);
  const CibResource& vnfs = cib->resources[0];
  EXPECT_EQ(vnfs.id, "vnfs1");
  EXPECT_EQ(vnfs.agent, "ocf:symnas:vnfs");
  EXPECT_EQ(vnfs.clone, "");
  EXPECT_THAT(vnfs.parameters, ElementsAre(Pair("vnfs", "a<&?b")));
  EXPECT_THAT(vnfs.meta, ElementsAre(Pair("allow-migrate", "true")));
  EXPECT_EQ(vnfs.operations.at("monitor").at("timeout"), "40s");
  EXPECT_EQ(cib->resources[1].clone, "all");
  EXPECT_EQ(cib->resources[2].clone, "");
  EXPECT_EQ(cib->resources[2].agent, "stonith:fence_x");
  ASSERT_EQ(cib->locations.size(), 2U);
  EXPECT_EQ(cib->locations[0].score, "1000");
  EXPECT_EQ(cib->locations[1].node, "");
}

TEST(Cib, WhatIsNoneIsRefused) {
  const std::string whole = kCib;
  for (const std::string& text :
       {std::string(), std::string("Could not connect"), std::string("<html/>"),
        std::string("<cib><configuration></cib>"), std::string("<cib a=b></cib>"),
        std::string("</cib>"), whole.substr(0, whole.size() / 2)}) {
    EXPECT_FALSE(parse_cib(text)) << text;
  }
}

// Whatever it is cut off at, it ends, and is refused until it is whole.
TEST(Cib, EveryBeginningOfOne) {
  const std::string whole = kCib;
  for (std::size_t size = 0; size + 2 < whole.size(); ++size)
    EXPECT_FALSE(parse_cib(whole.substr(0, size))) << size;
  EXPECT_TRUE(parse_cib(whole));
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
