#include "ha/detection/peer_watch.h"

#include <gtest/gtest.h>

namespace symnas::ha {
namespace {

class PeerWatchTest : public ::testing::Test {
 protected:
  // `paths`: those through which the head's probes come, every kProbeMs, as often as look() is
  // called.
  void run(std::int64_t span_ms, const std::vector<std::size_t>& paths,
           const std::string& boot = "boot") {
    for (const std::int64_t end_ms = now_ms + span_ms; now_ms < end_ms; now_ms += kProbeMs) {
      for (const std::size_t path : paths) watch.heard("c1n2", boot, path, now_ms);
      sights = watch.look(now_ms);
    }
  }
  bool silent() const { return !sights.empty() && sights[0].silent; }
  PeerWatch watch;
  std::int64_t now_ms = 1'000;
  std::vector<PeerSight> sights;
};

TEST_F(PeerWatchTest, WhoSendsIsHeard) {
  run(10'000, {0});
  ASSERT_EQ(sights.size(), 1u);
  EXPECT_EQ(sights[0].head, "c1n2");
  EXPECT_EQ(sights[0].incarnation, "boot");
  EXPECT_EQ(sights[0].silent_ms, 0);
  EXPECT_FALSE(silent());
}

TEST_F(PeerWatchTest, WhoStopsIsSilentSoon) {
  run(5'000, {0, 1});
  run(kSuspectMs - kProbeMs, {});
  EXPECT_FALSE(sights[0].suspect);
  run(2 * kProbeMs, {});
  EXPECT_TRUE(sights[0].suspect);
  run(kSilentMs - kSuspectMs - 2 * kProbeMs, {});
  EXPECT_FALSE(silent());
  run(2 * kProbeMs, {});
  EXPECT_TRUE(silent());
  run(kProbeMs, {1});
  EXPECT_FALSE(silent());
  EXPECT_FALSE(sights[0].suspect);
}

TEST_F(PeerWatchTest, OnePathIsEnough) {
  run(5'000, {0, 1});
  run(5'000, {1});
  EXPECT_FALSE(silent());
  EXPECT_GE(sights[0].paths_silent_ms[0], 4'900);
  EXPECT_EQ(sights[0].paths_silent_ms[1], 0);
}

TEST_F(PeerWatchTest, WhoWasNeverSteadyIsNotMissed) {
  run(kSteadyMs - kProbeMs, {0});
  run(10'000, {});
  EXPECT_FALSE(silent());
  EXPECT_FALSE(sights[0].suspect);
  EXPECT_GE(sights[0].silent_ms, 9'000);
}

TEST_F(PeerWatchTest, WhoIsExpectedAndNeverComesIsMissedInTheEnd) {
  watch.expect("c1n2", "boot", now_ms);
  run(kUnheardMs - kProbeMs, {});
  EXPECT_FALSE(silent());
  watch.expect("c1n2", "boot", now_ms);
  run(2 * kProbeMs, {});
  EXPECT_TRUE(silent());
}

TEST_F(PeerWatchTest, AfterASilenceItHasToBeSteadyAnew) {
  run(5'000, {0});
  run(1'000, {});
  run(1'000, {0});
  run(1'000, {});
  EXPECT_FALSE(silent());
}

TEST_F(PeerWatchTest, AnotherBootIsAnotherHead) {
  run(5'000, {0});
  run(kProbeMs, {0}, "next");
  run(5'000, {});
  ASSERT_EQ(sights.size(), 1u);
  EXPECT_EQ(sights[0].incarnation, "next");
  EXPECT_FALSE(silent());
}

TEST_F(PeerWatchTest, WhoWasPausedItselfBlamesNobody) {
  run(5'000, {0});
  now_ms += 60'000;
  sights = watch.look(now_ms);
  EXPECT_FALSE(silent());
  now_ms += kProbeMs;
  run(2 * kSilentMs, {});
  EXPECT_TRUE(silent());
}

TEST_F(PeerWatchTest, ForgetsWhoIsNoMember) {
  run(5'000, {0});
  watch.keep_only({"c1n3"});
  EXPECT_TRUE(watch.look(now_ms).empty());
}

}  // namespace
}  // namespace symnas::ha
