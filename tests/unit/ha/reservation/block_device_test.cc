// Tests that need no block device. The others run on real devices: tests/lab/cases/reservations.
#include "ha/reservation/block_device.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace symnas::ha {
namespace {

TEST(JudgeIoctl, OnlyZeroIsDone) {
  EXPECT_EQ(judge_ioctl(0, 0, Transport::kScsi).outcome, Outcome::kDone);
  EXPECT_EQ(judge_ioctl(0x18, 0, Transport::kScsi).outcome, Outcome::kRefused);
  EXPECT_EQ(judge_ioctl(0x02, 0, Transport::kScsi).outcome, Outcome::kRefused);
  EXPECT_EQ(judge_ioctl(-1, EIO, Transport::kScsi).outcome, Outcome::kUnknown);
}

TEST(JudgeIoctl, AnErrorOnTheWayLeavesTheOutcomeOpen) {
  EXPECT_EQ(judge_ioctl(0x10000, 0, Transport::kScsi).outcome, Outcome::kUnknown);  // no connection
  EXPECT_EQ(judge_ioctl(0x30000, 0, Transport::kScsi).outcome, Outcome::kUnknown);  // time-out
  EXPECT_EQ(judge_ioctl(0x10018, 0, Transport::kScsi).outcome, Outcome::kUnknown);
  EXPECT_EQ(judge_ioctl(0x371, 0, Transport::kNvme).outcome, Outcome::kUnknown);  // path error
  EXPECT_EQ(judge_ioctl(0x4083, 0, Transport::kNvme).outcome, Outcome::kRefused);
}

TEST(OpenBlockDevice, RefusesWhatIsNone) {
  EXPECT_EQ(open_block_device("/dev/null").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(open_block_device("/dev/no-such-disk").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace symnas::ha
