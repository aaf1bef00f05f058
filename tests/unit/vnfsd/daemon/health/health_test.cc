#include "vnfsd/daemon/health/health.h"

#include <functional>

#include <gtest/gtest.h>

#include "vnfsd/daemon/health/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

using State = Health::State;

// Reads that end at once, one a second, each looked at.
class HealthTest : public testing::Test {
 protected:
  State read_for(std::int64_t ms, const std::string& error) {
    return try_for(ms, [&] { health.answered(now_ms, error); });
  }
  State be_refused_for(std::int64_t ms) {
    return try_for(ms, [&] { health.refused(now_ms, "EBADE"); });
  }
  State try_for(std::int64_t ms, const std::function<void()>& answer) {
    State last = State::kWell;
    for (const std::int64_t until_ms = now_ms + ms; now_ms < until_ms;) {
      health.asked(now_ms);
      answer();
      last = health.look(now_ms);
      now_ms += kTryMs;
    }
    return last;
  }

  Health health;
  std::int64_t now_ms = 1000;
};

TEST_F(HealthTest, AHealthyOneIsWell) {
  EXPECT_EQ(health.look(now_ms), State::kWell) << "nothing is known against it";
  EXPECT_EQ(read_for(100'000, ""), State::kWell);
  EXPECT_EQ(health.why(), "");
}

TEST_F(HealthTest, AnErrorOrTwoSayNothing) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(read_for(2 * kTryMs, "EIO"), State::kWell);
    ASSERT_EQ(read_for(kTryMs, ""), State::kWell);
  }
}

TEST_F(HealthTest, ErrorsAloneMakeItIllAndThenWorse) {
  EXPECT_EQ(read_for(kFailsMs, "EIO"), State::kWell);
  EXPECT_EQ(read_for(kTryMs, "EIO"), State::kIll);
  EXPECT_EQ(health.why(), "EIO");
  EXPECT_EQ(read_for(kWorseMs, "EIO"), State::kWorse);
}

TEST_F(HealthTest, AReadThatHangsMakesItIll) {
  read_for(5'000, "");
  health.asked(now_ms);
  EXPECT_EQ(health.look(now_ms + kHangsMs - 1), State::kWell);
  EXPECT_EQ(health.look(now_ms + kHangsMs), State::kIll);
  EXPECT_NE(health.why().find("no answer"), std::string::npos);
  EXPECT_EQ(health.look(now_ms + kHangsMs + kWorseMs), State::kWorse);
  now_ms += 100'000;
  health.answered(now_ms, "");
  EXPECT_EQ(health.look(now_ms), State::kIll) << "not worse any more, but watched";
  EXPECT_EQ(read_for(kWellMs, ""), State::kIll);
  EXPECT_EQ(read_for(2 * kTryMs, ""), State::kWell);
}

TEST_F(HealthTest, IsWellAgainOnlyAfterLongWithoutAFault) {
  ASSERT_EQ(read_for(kFailsMs + kWorseMs + 2 * kTryMs, "EIO"), State::kWorse);
  EXPECT_EQ(read_for(kWellMs - 5'000, ""), State::kIll);
  EXPECT_EQ(read_for(kTryMs, "EIO"), State::kIll) << "the time begins anew";
  EXPECT_EQ(read_for(kWellMs - 5'000, ""), State::kIll);
  EXPECT_EQ(read_for(10'000, ""), State::kWell);
  EXPECT_EQ(health.why(), "");
}

TEST_F(HealthTest, WhoRegistersIsWellAtOnceAfterwards) {
  EXPECT_EQ(be_refused_for(kRegistersMs), State::kRegistering);
  EXPECT_EQ(health.why(), "");
  EXPECT_EQ(read_for(kTryMs, ""), State::kWell);
}

TEST_F(HealthTest, WhoIsRefusedForLongIsIll) {
  be_refused_for(kRegistersMs);
  EXPECT_EQ(be_refused_for(kFailsMs + kTryMs), State::kIll);
  EXPECT_EQ(health.why(), "EBADE");
  EXPECT_EQ(be_refused_for(kWorseMs), State::kWorse);
  EXPECT_EQ(read_for(kWellMs - kTryMs, ""), State::kIll);
  EXPECT_EQ(read_for(2 * kTryMs, ""), State::kWell);
}

TEST_F(HealthTest, AnIllOneStaysIllWhileItRegisters) {
  ASSERT_EQ(read_for(kFailsMs + kTryMs, "EIO"), State::kIll);
  EXPECT_EQ(be_refused_for(kRegistersMs), State::kIll);
  EXPECT_EQ(read_for(kWellMs - kTryMs, ""), State::kIll);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
