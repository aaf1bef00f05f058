#include "vnfsd/instance/pulse_watch.h"

#include <gtest/gtest.h>

#include "vnfsd/instance/limits.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr std::int64_t kMs = 1'000'000;
using Verdict = PulseWatch::Verdict;

// Looks every kPulseLookMs; the instance beats while `beats`.
class PulseWatchTest : public testing::Test {
 protected:
  Verdict look_for(std::int64_t ms) {
    Verdict last = Verdict::kDoubt;
    for (const std::int64_t until_ns = now_ns + ms * kMs; now_ns < until_ns;) {
      now_ns += kPulseLookMs * kMs;
      if (beats) beat_ns = now_ns;
      last = watch.look(now_ns, {beat_ns, open_until_ns});
      if (last == Verdict::kStill) break;
    }
    return last;
  }

  PulseWatch watch;
  std::int64_t now_ns = 1000 * kMs;
  std::int64_t beat_ns = 0;
  std::int64_t open_until_ns = fs::kAlwaysOpen;
  bool beats = true;
};

TEST_F(PulseWatchTest, AHealthyOneMayAnswer) { EXPECT_EQ(look_for(60'000), Verdict::kProved); }

TEST_F(PulseWatchTest, ASecondAfterItsGateItIsUnprovedUntilTheNextProof) {
  open_until_ns = now_ns + 5'000 * kMs;
  EXPECT_EQ(look_for(5'000 + kHideAfterMs), Verdict::kDoubt);
  EXPECT_EQ(look_for(kPulseLookMs), Verdict::kUnproved);
  EXPECT_EQ(look_for(60'000), Verdict::kUnproved);
  open_until_ns = now_ns + 8'000 * kMs;
  EXPECT_EQ(look_for(kPulseLookMs), Verdict::kProved);
}

TEST_F(PulseWatchTest, AGateThatIsShutForGoodIsUnprovedAtOnce) {
  open_until_ns = now_ns + 5'000 * kMs;
  EXPECT_EQ(look_for(1'000), Verdict::kProved);
  open_until_ns = 0;
  EXPECT_EQ(look_for(kPulseLookMs), Verdict::kUnproved) << "its process is about to end";
}

TEST_F(PulseWatchTest, AProofThatIsTooOldProvesNothing) {
  open_until_ns = now_ns;
  EXPECT_EQ(look_for(2 * kHideAfterMs), Verdict::kUnproved);
  open_until_ns = now_ns;
  EXPECT_EQ(look_for(kHideAfterMs), Verdict::kDoubt);
}

TEST_F(PulseWatchTest, WhoStandsStillDoesSoWhateverItsGate) {
  for (const std::int64_t open : {fs::kAlwaysOpen, std::int64_t{0}}) {
    watch = {};
    open_until_ns = open;
    beats = true;
    look_for(2'000);
    beats = false;
    const std::int64_t since_ns = now_ns;
    EXPECT_EQ(look_for(60'000), Verdict::kStill);
    EXPECT_LE(now_ns - since_ns, (kStillMs + kPulseLookMs) * kMs);
    EXPECT_EQ(look_for(kPulseLookMs), Verdict::kStill);
  }
}

TEST_F(PulseWatchTest, NobodyIsBlamedForTimeInWhichNobodyLooked) {
  look_for(2'000);
  beats = false;
  now_ns += 10 * kStillMs * kMs;
  EXPECT_EQ(watch.look(now_ns, {beat_ns, open_until_ns}), Verdict::kProved);
}

}  // namespace
}  // namespace symnas::vnfsd::instance
