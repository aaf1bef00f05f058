// Networks, and which VIPs are at home in them.
#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd {
namespace {

class PlanNetworkTest : public ::testing::Test {
 protected:
  void SetUp() override { builder.basics(); }
  ViewBuilder& network(const NetworkRequest& request) {
    return builder.apply([&](const ClusterView& v) { return plan_network_create(v, request); });
  }
  // The message of the refusal of a VNFS with these VIPs, "" when it is not refused.
  std::string refusal(std::vector<std::string> vips, std::vector<std::string> networks,
                      const std::string& name = "vnfs1") {
    VnfsRequest request = ViewBuilder::vnfs();
    request.name = name;
    request.vips = std::move(vips);
    request.networks = std::move(networks);
    const auto planned = plan_vnfs_create(builder.view(), request);
    return planned ? "" : planned.error().message;
  }
  ViewBuilder builder;
};

TEST_F(PlanNetworkTest, IsChecked) {
  const ClusterView view = builder.view();
  const auto code = [&](const NetworkRequest& r) { return code_of(plan_network_create(view, r)); };
  EXPECT_EQ(code({"nfs0", "eth2", 0, ""}), ErrorCode::kAlreadyExists);
  EXPECT_EQ(code({"nfs1", "eth1", 0, ""}), ErrorCode::kBusy);
  for (const NetworkRequest& request : std::vector<NetworkRequest>{
           {"a b", "eth2", 0, ""},
           {"n", "e/h", 0, ""},
           {"n", "eth2", 1279, ""},
           {"n", "eth2", 0, "gw"},
           {"n", "eth2", 0, "10.0.0.254,10.0.0.253"},
       }) {
    EXPECT_EQ(code(request), ErrorCode::kInvalidArgument) << request.gateway;
  }
  for (const char* gateway : {"", "10.0.0.254", "fd00::fe", "10.0.0.254,fe80::1"}) {
    EXPECT_TRUE(plan_network_create(view, {"n", "eth2", 9000, gateway})) << gateway;
  }
}

TEST_F(PlanNetworkTest, AtMostFour) {
  for (const char* number : {"1", "2", "3"})
    network({std::string("nfs") + number, std::string("e") + number, 0, ""});
  const auto fifth = plan_network_create(builder.view(), {"nfs4", "e4", 0, ""});
  ASSERT_FALSE(fifth);
  EXPECT_EQ(fifth.error().message,
            "network nfs4: a cluster has at most 4 networks (symnas network ls; remove one that no "
            "VNFS uses)");
}

TEST_F(PlanNetworkTest, InUseStays) {
  EXPECT_TRUE(plan_network_remove(builder.view(), "nfs0"));
  builder.vnfs1();
  EXPECT_EQ(code_of(plan_network_remove(builder.view(), "nfs0")), ErrorCode::kBusy);
  EXPECT_EQ(code_of(plan_network_remove(builder.view(), "x")), ErrorCode::kNotFound);
}

TEST_F(PlanNetworkTest, ASubnetBelongsToOne) {
  network({"nfs1", "eth2", 0, ""});
  builder.vnfs1();  // 10.0.0.101/24 in nfs0
  const auto refused = [&](std::vector<std::string> vips, std::vector<std::string> networks) {
    return refusal(std::move(vips), std::move(networks), "other");
  };
  EXPECT_EQ(refused({"10.0.0.102/24", "10.1.0.102/24"}, {"nfs0", "nfs1"}), "");
  EXPECT_EQ(refused({"10.0.0.102/24"}, {"nfs1"}),
            "vnfs other: VIP 10.0.0.102/24: its subnet is that of network nfs0, where VIP "
            "10.0.0.101/24 of VNFS vnfs1 is (choose that network, or another address)");
  EXPECT_EQ(refused({"10.0.0.102/16"}, {"nfs0"}),
            "vnfs other: VIP 10.0.0.102/16: VIP 10.0.0.101/24 of VNFS vnfs1 has another prefix "
            "length");
  EXPECT_NE(refused({"fd01::1/64", "fd01::2/64"}, {"nfs0", "nfs1"}), "");
  EXPECT_EQ(refused({"fd01::1/64", "fd01::2/64"}, {"nfs1"}), "");
}

TEST_F(PlanNetworkTest, VipsReachTheGatewayOfTheirFamily) {
  network({"nfs1", "eth2", 0, "10.1.0.254,fd01::fe"});
  EXPECT_EQ(refusal({"10.1.0.101/24", "fd01::101/64"}, {"nfs1"}), "");
  EXPECT_EQ(refusal({"10.1.1.101/24"}, {"nfs1"}),
            "vnfs vnfs1: VIP 10.1.1.101/24: the gateway 10.1.0.254 of network nfs1 lies outside "
            "its prefix");
  EXPECT_NE(refusal({"fd02::101/64"}, {"nfs1"}), "");
  network({"nfs2", "eth3", 0, "fe80::1"});
  EXPECT_EQ(refusal({"fd02::101/64", "10.2.0.1/24"}, {"nfs2"}), "");
}

TEST_F(PlanNetworkTest, AnAddressBelongsToOne) {
  network({"nfs1", "eth2", 0, "10.1.0.254,fd01::fe"});
  builder.apply([](const ClusterView& v) {
    VnfsRequest r = ViewBuilder::vnfs();
    r.name = "other";
    r.vips = {"fd01::101/64"};
    r.networks = {"nfs1"};
    return plan_vnfs_create(v, r);
  });
  EXPECT_EQ(refusal({"FD01:0::101/64"}, {"nfs1"}),
            "vnfs vnfs1: VIP fd01::101 belongs to VNFS other (choose another)");
  EXPECT_EQ(refusal({"fd01::fe/64"}, {"nfs1"}),
            "vnfs vnfs1: VIP fd01::fe belongs to the gateway of network nfs1 (choose another)");
  EXPECT_EQ(refusal({"fd01::1/64", "fd01:0::1/64"}, {"nfs1"}),
            "vnfs vnfs1: VIP fd01::1 is named twice");
}

}  // namespace
}  // namespace symnas::vnfsd
