#include "vnfsd/probe/canary.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::probe {
namespace {

TEST(Canary, NobodyThereIsNoAnswer) {
  EXPECT_FALSE(any_answers({}, 10));
  // Refused on loopback: port 2049 is ganesha's in the namespaces of VNFSs only.
  EXPECT_FALSE(any_answers({*IpAddress::parse("127.0.0.1"), *IpAddress::parse("::1")}, 50));
}

TEST(Canary, OnlyVipsOfOwnNetworksAreInReach) {
  const auto cidr = [](const char* text) { return *Cidr::parse(text); };
  const auto reached = in_reach({cidr("127.1.2.3/8"), cidr("192.0.2.1/32")});
  ASSERT_EQ(reached.size(), 1u);
  EXPECT_EQ(reached[0].to_string(), "127.1.2.3");
  EXPECT_TRUE(in_reach({}).empty());
}

}  // namespace
}  // namespace symnas::vnfsd::probe
