#include "fsal_cluster/token/write_flag.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

using Step = WriteFlag::Step;
using State = WriteFlag::State;
constexpr std::int64_t kSecond = 1'000'000'000;

void set(WriteFlag& flag, std::int64_t now_ns) {
  ASSERT_EQ(flag.want_write(now_ns), Step::kSetNow);
  flag.set_done(true, now_ns);
}
void drop(WriteFlag& flag, std::int64_t now_ns) {
  flag.begin_drop();
  flag.drop_done(true, now_ns);
}

TEST(WriteFlag, OneTransactionSetsItForAll) {
  WriteFlag flag;
  EXPECT_EQ(flag.want_write(0), Step::kSetNow);
  EXPECT_EQ(flag.want_write(0), Step::kWait);
  flag.set_done(true, 5);
  EXPECT_EQ(flag.want_write(6), Step::kProceed);
}

TEST(WriteFlag, AFailedSetLeavesItClear) {
  WriteFlag flag;
  EXPECT_EQ(flag.want_write(0), Step::kSetNow);
  flag.set_done(false, 1);
  EXPECT_EQ(flag.want_write(2), Step::kSetNow);
}

TEST(WriteFlag, WritesDuringADropAwaitItsOutcome) {
  WriteFlag flag;
  set(flag, 0);
  flag.begin_drop();
  EXPECT_EQ(flag.want_write(1), Step::kWait);
  flag.drop_done(true, 2);
  EXPECT_EQ(flag.want_write(3), Step::kSetNow);
}

TEST(WriteFlag, AFailedDropKeepsIt) {
  WriteFlag flag;
  set(flag, 0);
  flag.begin_drop();
  flag.drop_done(false, 7);
  EXPECT_EQ(flag.want_write(8), Step::kProceed);
}

TEST(WriteFlag, IsDueTwoSecondsAfterTheLastUse) {
  WriteFlag flag;
  set(flag, 0);
  flag.wrote(3 * kSecond);
  EXPECT_EQ(flag.drop_due_ns(), 5 * kSecond);
}

TEST(WriteFlag, ASteadyWriterKeepsItLongerUpToAMinute) {
  WriteFlag flag;
  std::int64_t now_ns = 0;
  set(flag, now_ns);
  EXPECT_TRUE(flag.may_drop_with_commit());
  std::int64_t hold_ns = kWriteFlagHoldNs;
  for (int i = 0; i < 10; ++i) {
    now_ns = flag.drop_due_ns();
    drop(flag, now_ns);
    now_ns += kSecond;
    set(flag, now_ns);
    hold_ns = std::min(hold_ns * 2, kWriteFlagHoldMaxNs);
    EXPECT_EQ(flag.drop_due_ns() - now_ns, hold_ns);
    EXPECT_FALSE(flag.may_drop_with_commit());
  }
  EXPECT_EQ(hold_ns, kWriteFlagHoldMaxNs);
  drop(flag, now_ns);
  set(flag, now_ns + 100 * kSecond);  // quiet since
  EXPECT_EQ(flag.drop_due_ns(), now_ns + 102 * kSecond);
}

TEST(WriteFlag, ACreatedFileBringsIt) {
  WriteFlag flag;
  flag.adopt(0);
  EXPECT_EQ(flag.want_write(1), Step::kProceed);
}

TEST(WriteFlagDeathTest, DataIsNeverWrittenWithoutIt) {
  WriteFlag flag;
  EXPECT_DEATH(flag.wrote(0), "without the flag");
}

}  // namespace
}  // namespace symnas::fs
