#include "vnfsd/probe/canary.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::probe {
namespace {

TEST(Canary, NobodyThereIsNoAnswer) {
  EXPECT_FALSE(any_answers({}, 10));
  // Refused on loopback: port 2049 is ganesha's in the namespaces of VNFSs only.
  EXPECT_FALSE(any_answers({*IpAddress::parse("127.0.0.1"), *IpAddress::parse("::1")}, 50));
}

}  // namespace
}  // namespace symnas::vnfsd::probe
