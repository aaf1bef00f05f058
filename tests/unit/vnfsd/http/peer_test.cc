#include "vnfsd/http/peer.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd {
namespace {

TEST(Peer, AnIpv6NetworkIsOneAddress) {
  EXPECT_EQ(limit_key("10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(limit_key("2001:db8:0:1::1"), limit_key("2001:db8:0:1:ffff::2"));
  EXPECT_NE(limit_key("2001:db8:0:1::1"), limit_key("2001:db8:0:2::1"));
}

TEST(Peer, WhatIsNoSocketHasNoAddress) { EXPECT_EQ(peer_address(-1), ""); }

}  // namespace
}  // namespace symnas::vnfsd
