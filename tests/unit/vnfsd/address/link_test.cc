#include "vnfsd/address/link.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::address {
namespace {

TEST(Link, MacIsLocalUnicastAndItsOwn) {
  const MacAddress mac = mac_for("c1n1", "vnfs1", "nfs0");
  EXPECT_EQ(mac[0], 0x02);
  EXPECT_EQ(mac, mac_for("c1n1", "vnfs1", "nfs0"));
  EXPECT_NE(mac, mac_for("c1n2", "vnfs1", "nfs0"));  // no MAC moves between heads
  EXPECT_NE(mac, mac_for("c1n1", "vnfs2", "nfs0"));
  EXPECT_NE(mac, mac_for("c1n1", "vnfs1", "nfs1"));
  EXPECT_NE(mac_for("ab", "c", "d"), mac_for("a", "bc", "d"));
}

TEST(Link, MissingDeviceIsNamed) {
  const Status made = create_link({"nosuchdevice0", "nfs0", {}, 0, -1});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(made.error().message, "network device nosuchdevice0: does not exist on this head");
}

}  // namespace
}  // namespace symnas::vnfsd::address
