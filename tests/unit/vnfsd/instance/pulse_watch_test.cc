#include "vnfsd/instance/pulse_watch.h"

#include <gtest/gtest.h>

#include "vnfsd/instance/limits.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr std::int64_t kMs = 1'000'000;
using Action = PulseWatch::Action;

// Looks every kPulseLookMs; the instance beats while `beats`.
class PulseWatchTest : public testing::Test {
 protected:
  Action look_for(std::int64_t ms) {
    Action last = Action::kGoOn;
    for (const std::int64_t until_ns = now_ns + ms * kMs; now_ns < until_ns;) {
      now_ns += kPulseLookMs * kMs;
      if (beats) beat_ns = now_ns;
      const Action action = watch.look(now_ns, {beat_ns, open_until_ns});
      if (action != Action::kGoOn) last = action;
      if (action == Action::kEnd) break;
    }
    return last;
  }

  PulseWatch watch;
  std::int64_t now_ns = 1000 * kMs;
  std::int64_t beat_ns = 0;
  std::int64_t open_until_ns = fs::kAlwaysOpen;
  bool beats = true;
};

TEST_F(PulseWatchTest, AHealthyOneIsLeftAlone) {
  EXPECT_EQ(look_for(60'000), Action::kGoOn);
  EXPECT_FALSE(watch.hidden());
}

TEST_F(PulseWatchTest, ItsVipsGoASecondAfterItsGateAndComeBackWithAProof) {
  open_until_ns = now_ns + 5'000 * kMs;
  EXPECT_EQ(look_for(5'000 + kHideAfterMs), Action::kGoOn);
  EXPECT_EQ(look_for(kPulseLookMs), Action::kHide);
  EXPECT_TRUE(watch.hidden());
  EXPECT_EQ(look_for(60'000), Action::kGoOn) << "once";
  open_until_ns = now_ns + 8'000 * kMs;
  EXPECT_EQ(look_for(kPulseLookMs), Action::kShow);
  EXPECT_FALSE(watch.hidden());
  EXPECT_EQ(look_for(4'000), Action::kGoOn);
}

TEST_F(PulseWatchTest, AProofThatIsTooOldShowsNothing) {
  open_until_ns = now_ns;
  EXPECT_EQ(look_for(2 * kHideAfterMs), Action::kHide);
  open_until_ns = now_ns;
  EXPECT_EQ(look_for(kHideAfterMs), Action::kGoOn);
}

TEST_F(PulseWatchTest, AGateThatIsShutForAMomentHidesNothing) {
  open_until_ns = now_ns;
  EXPECT_EQ(look_for(kHideAfterMs), Action::kGoOn);
  open_until_ns = fs::kAlwaysOpen;
  EXPECT_EQ(look_for(10'000), Action::kGoOn);
}

TEST_F(PulseWatchTest, WhatCouldNotBeDoneIsDoneAgain) {
  open_until_ns = now_ns;
  EXPECT_EQ(look_for(2 * kHideAfterMs), Action::kHide);
  watch.undo();
  EXPECT_EQ(look_for(kPulseLookMs), Action::kHide);
}

TEST_F(PulseWatchTest, WhoStandsStillIsEndedWhateverItsGate) {
  for (const std::int64_t open : {fs::kAlwaysOpen, std::int64_t{0}}) {
    watch = {};
    open_until_ns = open;
    beats = true;
    look_for(2'000);
    beats = false;
    const std::int64_t since_ns = now_ns;
    EXPECT_EQ(look_for(60'000), Action::kEnd);
    EXPECT_LE(now_ns - since_ns, (kStillMs + kPulseLookMs) * kMs);
    EXPECT_EQ(look_for(kPulseLookMs), Action::kEnd) << "again, until it is done";
  }
}

TEST_F(PulseWatchTest, WhoIsEndedHasNoVipsHoweverLongItTakes) {
  look_for(2'000);
  watch.end();
  EXPECT_TRUE(watch.hidden());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(look_for(kPulseLookMs), Action::kEnd) << "again";
  open_until_ns = now_ns;
  EXPECT_EQ(look_for(2 * kHideAfterMs), Action::kEnd);
  open_until_ns = fs::kAlwaysOpen;
  EXPECT_EQ(look_for(kPulseLookMs), Action::kEnd) << "a proof brings nothing back";
}

TEST_F(PulseWatchTest, NobodyIsBlamedForTimeInWhichNobodyLooked) {
  look_for(1'000);
  beats = false;
  look_for(kStillMs - 500);
  now_ns += 60'000 * kMs;  // this head stood still itself
  EXPECT_EQ(look_for(kStillMs - 500), Action::kGoOn);
  beats = true;
  EXPECT_EQ(look_for(10'000), Action::kGoOn);
}

TEST_F(PulseWatchTest, AfterAPauseOfTheHeadTheVipsGoAtTheFirstLook) {
  look_for(1'000);
  open_until_ns = now_ns + 8'000 * kMs;
  now_ns += 15'000 * kMs;
  EXPECT_EQ(look_for(kPulseLookMs), Action::kHide);
}

}  // namespace
}  // namespace symnas::vnfsd::instance
