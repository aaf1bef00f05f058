#include "vnfsd/daemon/detection/neighbours.h"

#include "tests/unit/vnfsd/daemon/head_world.h"

namespace symnas::vnfsd::daemon {
namespace {

class NeighboursTest : public HeadWorld {
 protected:
  void SetUp() override { builder.three_heads().basics().vnfs1().owner("vnfs1", "c1n2"); }
};

TEST_F(NeighboursTest, TellsOfOthersAndOfNetworks) {
  records::HeadRecord record = builder.view().heads.at("c1n2").record;
  record.add_probe_addresses("10.0.0.2");
  record.add_ill_networks("nfs0");
  builder.put(kv::keys::kHeads + std::string("c1n2"), record.SerializeAsString());
  const Neighbours seen = neighbours_of(builder.view(), "c1n3");
  EXPECT_FALSE(seen.addresses_by_head.contains("c1n3"));
  ASSERT_EQ(seen.addresses_by_head.at("c1n2").size(), 2u);
  EXPECT_EQ(seen.addresses_by_head.at("c1n2")[1].to_string(), "10.0.0.2");
  EXPECT_EQ(seen.devices_by_network.at("nfs0"), "eth1");
  EXPECT_TRUE(seen.ill_there.at("c1n2").contains("nfs0"));
}

TEST_F(NeighboursTest, VipsAreWhereTheirOwnerIs) {
  const ClusterView view = builder.view();
  ASSERT_EQ(vips_of(view, "c1n2").size(), 1u);
  EXPECT_EQ(vips_of(view, "c1n2")[0].address.to_string(), "10.0.0.101");
  EXPECT_TRUE(vips_of(view, "c1n1").empty());
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
