#include "vnfsd/daemon/detection/network_watcher.h"

#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/health/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

class NetworkWatcherTest : public HeadWorld {
 protected:
  void SetUp() override {
    known.devices_by_network = {{"nfs0", "eth1"}};
    devices["eth1"].running = true;
  }
  void follow() { watcher.follow(std::make_shared<const Neighbours>(known)); }
  void look_for_ms(std::int64_t ms) {
    for (std::int64_t passed = 0; passed < ms; passed += kTryMs) {
      pass_ms(kTryMs);
      watcher.look({});
    }
  }
  Neighbours known;
  std::map<std::string, probe::Device> devices;
  int changes = 0;
  NetworkWatcher watcher{head, [this] { return devices; }, [this] { ++changes; }};
};

TEST_F(NetworkWatcherTest, SaysNothingBeforeTheRecordsAreKnown) {
  devices["eth1"].running = false;
  look_for_ms(10 * kFailsMs);
  EXPECT_TRUE(watcher.ill().empty());
  EXPECT_TRUE(watcher.devices().empty());
}

TEST_F(NetworkWatcherTest, ADeviceWithoutACarrierIsIll) {
  follow();
  EXPECT_EQ(watcher.devices().at("nfs0"), "eth1");
  look_for_ms(5 * kFailsMs);
  EXPECT_EQ(watcher.why_ill("nfs0"), "");
  EXPECT_EQ(changes, 0);
  devices["eth1"].running = false;
  look_for_ms(3 * kFailsMs);
  EXPECT_NE(watcher.why_ill("nfs0"), "");
  EXPECT_GE(changes, 1);
  look_for_ms(2 * kWorseMs);
  EXPECT_TRUE(watcher.worse().contains("nfs0"));
}

TEST_F(NetworkWatcherTest, WhatWasSaidBeforeTheStartHoldsUntilItIsLookedAt) {
  known.ill_there["c1n3"] = {"nfs0"};
  follow();
  EXPECT_NE(watcher.why_ill("nfs0").find("before this vnfsd was started"), std::string::npos);
  follow();
  EXPECT_EQ(watcher.ill().size(), 1u);
}

TEST_F(NetworkWatcherTest, WithoutAnyDeviceTheKernelDidNotSay) {
  follow();
  devices.clear();
  look_for_ms(5 * kFailsMs);
  EXPECT_TRUE(watcher.ill().empty());
}

TEST_F(NetworkWatcherTest, LooksOftenerThanATryDoNothing) {
  follow();
  devices["eth1"].running = false;
  for (int i = 0; i < 1'000; ++i) watcher.look({});
  EXPECT_TRUE(watcher.ill().empty());
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
