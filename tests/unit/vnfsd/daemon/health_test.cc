#include "vnfsd/daemon/lun_health.h"

#include <gtest/gtest.h>

#include "vnfsd/daemon/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

using State = LunHealth::State;

// Reads that end at once, one a second, each looked at.
class LunHealthTest : public testing::Test {
 protected:
  State read_for(std::int64_t ms, const std::string& error) {
    State last = State::kWell;
    for (const std::int64_t until_ms = now_ms + ms; now_ms < until_ms;) {
      health.asked(now_ms);
      health.answered(now_ms, error);
      last = health.look(now_ms);
      now_ms += kLunReadMs;
    }
    return last;
  }

  LunHealth health;
  std::int64_t now_ms = 1000;
};

TEST_F(LunHealthTest, AHealthyOneIsWell) {
  EXPECT_EQ(health.look(now_ms), State::kWell) << "nothing is known against it";
  EXPECT_EQ(read_for(100'000, ""), State::kWell);
  EXPECT_EQ(health.why(), "");
}

TEST_F(LunHealthTest, AnErrorOrTwoSayNothing) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(read_for(2 * kLunReadMs, "EIO"), State::kWell);
    ASSERT_EQ(read_for(kLunReadMs, ""), State::kWell);
  }
}

TEST_F(LunHealthTest, ErrorsAloneMakeItIllAndThenWorse) {
  EXPECT_EQ(read_for(kLunFailsMs, "EIO"), State::kWell);
  EXPECT_EQ(read_for(kLunReadMs, "EIO"), State::kIll);
  EXPECT_EQ(health.why(), "it cannot be read on this head: EIO");
  EXPECT_EQ(read_for(kLunWorseMs, "EIO"), State::kWorse);
}

TEST_F(LunHealthTest, AReadThatHangsMakesItIll) {
  read_for(5'000, "");
  health.asked(now_ms);
  EXPECT_EQ(health.look(now_ms + kLunHangsMs - 1), State::kWell);
  EXPECT_EQ(health.look(now_ms + kLunHangsMs), State::kIll);
  EXPECT_NE(health.why().find("has not been answered"), std::string::npos);
  EXPECT_EQ(health.look(now_ms + kLunHangsMs + kLunWorseMs), State::kWorse);
  now_ms += 100'000;
  health.answered(now_ms, "");
  EXPECT_EQ(health.look(now_ms), State::kIll) << "not worse any more, but watched";
  EXPECT_EQ(read_for(kLunWellMs, ""), State::kIll);
  EXPECT_EQ(read_for(2 * kLunReadMs, ""), State::kWell);
}

TEST_F(LunHealthTest, IsWellAgainOnlyAfterLongWithoutAFault) {
  ASSERT_EQ(read_for(kLunFailsMs + kLunWorseMs + 2 * kLunReadMs, "EIO"), State::kWorse);
  EXPECT_EQ(read_for(kLunWellMs - 5'000, ""), State::kIll);
  EXPECT_EQ(read_for(kLunReadMs, "EIO"), State::kIll) << "the time begins anew";
  EXPECT_EQ(read_for(kLunWellMs - 5'000, ""), State::kIll);
  EXPECT_EQ(read_for(10'000, ""), State::kWell);
  EXPECT_EQ(health.why(), "");
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
