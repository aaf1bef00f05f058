#include "vnfsd/network/listen_address.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd {
namespace {

TEST(ListenAddress, IsAnAddressAndAPort) {
  const auto four = parse_listen_address("10.99.0.1:9641");
  ASSERT_TRUE(four);
  EXPECT_EQ(four->address, "10.99.0.1");
  EXPECT_EQ(four->port, 9641);
  const auto six = parse_listen_address("[fd00::1]:65535");
  ASSERT_TRUE(six);
  EXPECT_EQ(six->address, "fd00::1");
  EXPECT_EQ(six->port, 65'535);
  for (const char* text : {"", ":9641", "10.99.0.1", "10.99.0.1:", "10.99.0.1:0", "10.99.0.1:65536",
                           "10.99.0.1:1x", "fd00::1:80", "[10.0.0.1]:80", "host:80", "[]:80"}) {
    EXPECT_FALSE(parse_listen_address(text)) << text;
  }
}

}  // namespace
}  // namespace symnas::vnfsd
