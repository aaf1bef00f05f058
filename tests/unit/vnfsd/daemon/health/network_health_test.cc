#include "vnfsd/daemon/health/network_health.h"

#include <gtest/gtest.h>

#include "vnfsd/daemon/health/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

// Network nfs0 on eth1; two other heads, each with an address on eth0 and on eth1.
class NetworkHealthTest : public testing::Test {
 protected:
  void SetUp() override {
    view.networks = {{"nfs0", "eth1"}};
    view.devices["eth0"] = {true, {*Cidr::parse("10.99.0.1/24")}};
    view.devices["eth1"] = {true, {*Cidr::parse("10.0.0.1/24")}};
    for (const char* number : {"2", "3"}) {
      view.peers[std::string("c1n") + number] = {
          *IpAddress::parse(std::string("10.99.0.") + number),
          *IpAddress::parse(std::string("10.0.0.") + number)};
    }
    hear(0, 0);
  }
  // How long ago each of the others was heard on eth0 and on eth1; -1: never.
  void hear(std::int64_t eth0_ms, std::int64_t eth1_ms) {
    view.sights.clear();
    for (const auto& [head, addresses] : view.peers) {
      ha::PeerSight& sight = view.sights.emplace_back();
      sight.head = head;
      sight.silent_ms = std::min(eth0_ms, eth1_ms < 0 ? eth0_ms : eth1_ms);
      sight.paths_silent_ms = {eth0_ms, eth1_ms};
    }
  }
  void run(std::int64_t span_ms) {
    for (const std::int64_t end_ms = now_ms + span_ms; now_ms < end_ms; now_ms += kTryMs)
      health.look(now_ms, view);
  }
  bool is_ill() const { return health.ill().contains("nfs0"); }

  NetworkView view;
  NetworkHealth health;
  std::int64_t now_ms = 1'000;
};

TEST_F(NetworkHealthTest, WhoHearsOthersThereReachesItWell) {
  run(60'000);
  EXPECT_FALSE(is_ill());
}

TEST_F(NetworkHealthTest, NobodyThereButElsewhereMeansThatThisHeadIsCutOff) {
  run(5'000);
  hear(0, 10'000);
  run(kFailsMs + 2 * kTryMs);
  EXPECT_TRUE(is_ill());
  EXPECT_NE(health.ill().at("nfs0").find("eth1"), std::string::npos);
  EXPECT_TRUE(health.worse().empty());
  run(kWorseMs);
  EXPECT_TRUE(health.worse().contains("nfs0"));
  hear(0, 0);
  run(kWellMs);
  EXPECT_TRUE(is_ill()) << "what comes and goes moves nothing to and fro";
  run(2 * kTryMs);
  EXPECT_FALSE(is_ill());
}

TEST_F(NetworkHealthTest, OneThatIsHeardIsEnough) {
  hear(0, 10'000);
  view.sights[1].paths_silent_ms = {0, 0};
  run(60'000);
  EXPECT_FALSE(is_ill());
}

TEST_F(NetworkHealthTest, OfTwoHeadsNobodyIsBlamed) {
  view.peers.erase("c1n3");
  hear(0, 10'000);
  run(60'000);
  EXPECT_FALSE(is_ill());
}

TEST_F(NetworkHealthTest, TwoAddressesOfOneHeadAreOneWitness) {
  view.peers.erase("c1n3");
  view.peers["c1n2"].push_back(*IpAddress::parse("10.0.0.22"));
  hear(0, 10'000);
  view.sights[0].paths_silent_ms.push_back(10'000);
  run(60'000);
  EXPECT_FALSE(is_ill());
}

TEST_F(NetworkHealthTest, WhoSaysThatItIsCutOffItselfIsNoWitness) {
  hear(0, 10'000);
  view.ill_there["c1n2"] = {"nfs0"};
  view.ill_there["c1n3"] = {"nfs1"};
  run(60'000);
  EXPECT_FALSE(is_ill());
}

TEST_F(NetworkHealthTest, WhatWasIllStaysSoUntilSomebodyIsHeardThere) {
  health.remember(now_ms, {"nfs0"});
  EXPECT_TRUE(is_ill());
  hear(0, -1);
  run(3 * kWellMs);
  EXPECT_TRUE(is_ill()) << "after a start nobody has come that way yet";
  EXPECT_TRUE(health.worse().contains("nfs0"));
  hear(0, 0);
  run(kWellMs);
  EXPECT_TRUE(is_ill());
  run(2 * kTryMs);
  EXPECT_FALSE(is_ill());
}

TEST_F(NetworkHealthTest, WhatWasIllAndCannotBeToldIsWellAfterItsTime) {
  view.peers.clear();
  view.sights.clear();
  health.remember(now_ms, {"nfs0"});
  run(kWellMs);
  EXPECT_TRUE(is_ill());
  run(2 * kTryMs);
  EXPECT_FALSE(is_ill());
}

TEST_F(NetworkHealthTest, HeadsThatHaveGoneSayNothing) {
  hear(10'000, 10'000);
  run(60'000);
  EXPECT_FALSE(is_ill());
}

TEST_F(NetworkHealthTest, WhereProbesNeverCameTheirAbsenceSaysNothing) {
  hear(0, -1);
  run(60'000);
  EXPECT_FALSE(is_ill());
}

TEST_F(NetworkHealthTest, WithoutACarrierItIsIllWhateverOthersSay) {
  view.devices["eth1"].running = false;
  run(kFailsMs + 2 * kTryMs);
  EXPECT_EQ(health.ill().at("nfs0"), "device eth1 of this head has no carrier");
  view.devices.erase("eth1");
  run(kTryMs);
  EXPECT_EQ(health.ill().at("nfs0"), "there is no device eth1 on this head");
}

TEST_F(NetworkHealthTest, ANetworkThatIsRemovedIsForgotten) {
  view.devices["eth1"].running = false;
  run(10'000);
  view.networks.clear();
  EXPECT_TRUE(health.look(now_ms, view));
  EXPECT_TRUE(health.ill().empty());
  EXPECT_TRUE(health.worse().empty());
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
