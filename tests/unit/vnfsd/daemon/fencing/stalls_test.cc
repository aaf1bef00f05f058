#include "vnfsd/daemon/fencing/stalls.h"

#include <gtest/gtest.h>

#include <set>

namespace symnas::vnfsd::daemon {
namespace {

// Three mounts, looked at once a second; `beating` put a heartbeat before every look.
class StallsTest : public ::testing::Test {
 protected:
  StallsTest() {
    for (std::uint64_t id = 1; id <= 3; ++id) {
      fs::MountEntry entry;
      entry.id = MountId{id};
      entry.record.set_head("c1n" + std::to_string(id));
      waits.mounts.push_back({entry, Revision{static_cast<std::int64_t>(id)}});
    }
  }
  std::vector<Stall> look(std::int64_t after_ms = 1000) {
    now_ms += after_ms;
    ++revision;
    for (auto& mount : waits.mounts) {
      if (beating.contains(mount.entry.id.value())) mount.heartbeat = Revision{revision};
    }
    return watch.look(now_ms, "u04", waits);
  }
  void want(std::uint64_t by, std::vector<std::uint64_t> holders) {
    fs::Waits::Want out{
        "want" + std::to_string(waits.wants.size()), Revision{++revision}, MountId{by}, {}};
    for (const std::uint64_t id : holders) out.holders.push_back(MountId{id});
    waits.wants.push_back(out);
  }

  fs::Waits waits;
  std::set<std::uint64_t> beating{1, 2, 3};
  std::int64_t revision = 100;
  std::int64_t now_ms = 50'000;
  StallWatch watch;
};

TEST_F(StallsTest, WhoShowsHeartbeatsAndKeepsNobodyWaitingIsLeftAlone) {
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(look().empty()) << i;
}

TEST_F(StallsTest, ToldOfSilenceAfterThreeSeconds) {
  look();
  beating.erase(2);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(look().empty()) << i;
  const auto stalls = look();
  ASSERT_EQ(stalls.size(), 1U);
  EXPECT_EQ(stalls[0].mount.id, MountId{2});
  EXPECT_EQ(stalls[0].filesystem, "u04");
  EXPECT_EQ(stalls[0].silent_ms, 3000);
  EXPECT_EQ(stalls[0].waited_ms, 0);
  EXPECT_EQ(look()[0].silent_ms, 4000);
  beating.insert(2);
  EXPECT_TRUE(look().empty());
}

TEST_F(StallsTest, ToldOfAWantThatIsNotAnswered) {
  look();
  want(1, {2, 3});
  EXPECT_TRUE(look().empty()) << "just put";
  auto stalls = look();
  ASSERT_EQ(stalls.size(), 2U);
  EXPECT_EQ(stalls[0].mount.id, MountId{2});
  EXPECT_EQ(stalls[0].waited_ms, 1000);
  EXPECT_EQ(stalls[0].wants, 1U);
  EXPECT_EQ(stalls[0].silent_ms, 0);
  want(1, {2});
  look();
  stalls = look();
  EXPECT_EQ(stalls[0].waited_ms, 3000);
  EXPECT_EQ(stalls[0].wants, 2U);
}

TEST_F(StallsTest, AWantThatWasPutAgainIsANewOne) {
  want(1, {2});
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(look().empty()) << i;
    waits.wants[0].revision = Revision{++revision};
  }
}

TEST_F(StallsTest, AWantThatNobodyHasToAnswerIsItsOwnersFault) {
  want(3, {});
  look();
  const auto stalls = look();
  ASSERT_EQ(stalls.size(), 1U);
  EXPECT_EQ(stalls[0].mount.id, MountId{3});
}

TEST_F(StallsTest, NobodyIsBlamedWhileNoMountShowsHeartbeats) {
  look();
  beating.clear();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(look().empty()) << i;
  beating = {1};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(look().empty()) << "etcd was at fault";
  EXPECT_EQ(look().size(), 2U);
}

TEST_F(StallsTest, AMountThatRecoversIsGivenTime) {
  waits.mounts[1].heartbeat = Revision{};
  beating.erase(2);
  for (int i = 0; i < 60; ++i) EXPECT_TRUE(look().empty()) << i;
  for (int i = 0; i < 4; ++i) look();
  EXPECT_EQ(look().size(), 1U);
}

TEST_F(StallsTest, AgesBeginAnewAfterAPauseOfOnesOwn) {
  look();
  want(1, {2});
  look();
  beating.clear();
  EXPECT_TRUE(look(60'000).empty());
  beating = {1, 3};
  look();
  const auto stalls = look();
  ASSERT_EQ(stalls.size(), 1U);
  EXPECT_EQ(stalls[0].silent_ms, 0) << "two seconds";
  EXPECT_EQ(stalls[0].waited_ms, 2000);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
