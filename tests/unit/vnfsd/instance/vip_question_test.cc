#include "vnfsd/instance/vip_question.h"

#include "tests/unit/vnfsd/plans/view_builder.h"

namespace symnas::vnfsd::instance {
namespace {

const address::MacAddress kForeign{0x52, 0x54, 0, 0x12, 0x34, 0x56};
const IpAddress kVip = *IpAddress::parse("10.0.0.101");

LinkPlan link_of(ViewBuilder& builder) {
  Config config;
  config.head_name = "c1n1";
  const auto plan = plan_instance(builder.view(), config, "vnfs1");
  EXPECT_TRUE(plan);
  return plan->links.at(0);
}

class VipQuestionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    builder.head("c1n2", "10.99.0.2");
    builder.basics().vnfs1();
  }
  ViewBuilder builder;
};

TEST_F(VipQuestionTest, AStrangerIsNamed) {
  const auto taken = foreign(link_of(builder), {{kVip, kForeign}});
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(text_of(taken), "VIP 10.0.0.101 (network nfs0) is in use by 52:54:00:12:34:56");
}

TEST_F(VipQuestionTest, ItsLinkOnAnyHeadIsNoStranger) {
  for (const char* head : {"c1n1", "c1n2"}) {
    const auto mac = address::mac_for(head, "vnfs1", "nfs0");
    EXPECT_TRUE(foreign(link_of(builder), {{kVip, mac}}).empty()) << head;
  }
  const auto other = address::mac_for("c1n1", "vnfs2", "nfs0");
  EXPECT_FALSE(foreign(link_of(builder), {{kVip, other}}).empty());
}

TEST_F(VipQuestionTest, NorIsTheSpareMacOfItsOwner) {
  const auto mac = spare_mac("c1n2", "vnfs1", "nfs0", Epoch(7));
  EXPECT_FALSE(foreign(link_of(builder), {{kVip, mac}}).empty());
  builder.owner("vnfs1", "c1n2");
  EXPECT_TRUE(foreign(link_of(builder), {{kVip, mac}}).empty());
}

TEST_F(VipQuestionTest, NorADeviceOfAHead) {
  records::HeadRecord head = builder.view().heads.at("c1n2").record;
  head.add_macs(std::string(kForeign.begin(), kForeign.end()));
  head.add_macs("short");
  builder.put(kv::keys::kHeads + "c1n2", head.SerializeAsString());
  EXPECT_TRUE(foreign(link_of(builder), {{kVip, kForeign}}).empty());
}

TEST_F(VipQuestionTest, WhereNothingCanBeAskedNobodyAnswers) {
  LinkPlan link = link_of(builder);
  link.device = "nosuchdevice0";
  VipQuestion question({link}, 0, 10);
  EXPECT_TRUE(question.answers().empty());
}

}  // namespace
}  // namespace symnas::vnfsd::instance
