#include "fsal_cluster/mount/lun_touch.h"

#include <gtest/gtest.h>

#include <memory>

#include "common/env/random.h"
#include "fsal_cluster/types/limits.h"
#include "tests/support/sim_volume.h"

namespace symnas::fs {
namespace {

using test::SimDisk;
using test::SimVolume;

class LunTouchTest : public testing::Test {
 protected:
  env::ManualClock clock;
  Gate gate{clock, clock.mono_ns(), kGateWindowNs};
  std::shared_ptr<SimVolume> volume = std::make_shared<SimVolume>(
      std::make_shared<SimDisk>(std::uint64_t{1} << 20, std::byte{0}), SimVolume::Mode::kQueued);
  env::SeededRandom random{1};
  int fenced = 0;
  LunTouch touch{volume, gate, [this](const Error&) { ++fenced; }};
};

TEST_F(LunTouchTest, IsASignOfLifeFromWhenItBegan) {
  clock.advance_ns(1'000'000'000);
  const std::int64_t begun_ns = clock.mono_ns();
  touch.begin();
  clock.advance_ns(1);
  EXPECT_FALSE(gate.may_answer(begun_ns)) << "nothing was answered yet";
  ASSERT_TRUE(volume->run_one(random));
  EXPECT_TRUE(gate.may_answer(begun_ns));
  EXPECT_FALSE(gate.may_answer(clock.mono_ns()));
  EXPECT_EQ(fenced, 0);
}

TEST_F(LunTouchTest, NeedsNoOpenGate) {
  clock.advance_ns(kGateWindowNs);
  EXPECT_FALSE(gate.is_open());
  touch.begin();
  EXPECT_TRUE(volume->run_one(random)) << "it is how a head that was cut off finds that out";
}

TEST_F(LunTouchTest, TellsOfAFenceAndOfNothingElse) {
  volume->fail_next(SimVolume::Kind::kRead, 1);
  touch.begin();
  ASSERT_TRUE(volume->run_one(random));
  EXPECT_EQ(fenced, 0);
  volume->fail_next(SimVolume::Kind::kRead, 1, ErrorCode::kFenced);
  touch.begin();
  ASSERT_TRUE(volume->run_one(random));
  EXPECT_EQ(fenced, 1);
}

TEST_F(LunTouchTest, OneReadIsUnderWayAtATime) {
  touch.begin();
  touch.begin();
  EXPECT_EQ(volume->queued(), 1u);
  ASSERT_TRUE(volume->run_one(random));
  touch.begin();
  EXPECT_TRUE(volume->run_one(random));
}

}  // namespace
}  // namespace symnas::fs
