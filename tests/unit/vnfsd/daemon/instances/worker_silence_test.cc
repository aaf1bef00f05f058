#include "vnfsd/daemon/instances/worker_silence.h"

#include <gtest/gtest.h>

#include "vnfsd/daemon/instances/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

using NullReply = WorkerSilence::NullReply;

class WorkerSilenceTest : public testing::Test {
 protected:
  // Asked every two seconds for so long.
  std::int64_t ask_for(std::int64_t ms, NullReply answer, Epoch epoch = Epoch{7}) {
    std::int64_t silent_ms = 0;
    for (const std::int64_t until_ms = now_ms + ms; now_ms < until_ms;) {
      now_ms += 2'000;
      silent_ms = watch.asked(now_ms, epoch, answer);
    }
    return silent_ms;
  }

  WorkerSilence watch;
  std::int64_t now_ms = 1000;
};

TEST_F(WorkerSilenceTest, WhoAnswersIsWell) { EXPECT_EQ(ask_for(60'000, NullReply::kGiven), 0); }

TEST_F(WorkerSilenceTest, SilenceForLongMeansDeadWorkers) {
  ask_for(10'000, NullReply::kGiven);
  EXPECT_EQ(ask_for(kDeadWorkersMs, NullReply::kMissing), 0);
  EXPECT_GE(ask_for(2'000, NullReply::kMissing), kDeadWorkersMs);
}

TEST_F(WorkerSilenceTest, OneAnswerIsEnough) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(ask_for(kDeadWorkersMs, NullReply::kMissing), 0);
    EXPECT_EQ(ask_for(2'000, NullReply::kGiven), 0);
  }
}

TEST_F(WorkerSilenceTest, WhoMayNotAnswerIsNotBlamed) {
  EXPECT_EQ(ask_for(60'000, NullReply::kHeld), 0);
  EXPECT_EQ(ask_for(kDeadWorkersMs, NullReply::kMissing), 0) << "counted from the end of that";
}

TEST_F(WorkerSilenceTest, AnotherInstanceIsNotBlamedForTheLastOne) {
  ask_for(kDeadWorkersMs, NullReply::kMissing);
  EXPECT_EQ(ask_for(kDeadWorkersMs, NullReply::kMissing, Epoch{8}), 0);
}

TEST_F(WorkerSilenceTest, APauseOfTheHeadItselfBlamesNobody) {
  ask_for(kDeadWorkersMs, NullReply::kMissing);
  now_ms += 60'000;
  EXPECT_EQ(ask_for(kDeadWorkersMs, NullReply::kMissing), 0);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
