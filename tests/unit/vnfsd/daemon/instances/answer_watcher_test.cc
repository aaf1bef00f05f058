#include "vnfsd/daemon/instances/answer_watcher.h"

#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/instances/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

class AnswerWatcherTest : public HeadWorld {
 protected:
  void SetUp() override {
    instance::InstanceSnapshot& serving = instances.all["vnfs1"];
    serving.phase = instance::Phase::kServing;
    serving.pid = 42;
    serving.epoch = 7;
  }
  void look_for_ms(std::int64_t ms) {
    for (std::int64_t passed = 0; passed < ms; passed += kAskEveryMs) {
      pass_ms(kAskEveryMs);
      watcher.look();
    }
  }
  WorkerSilence::NullReply answer = WorkerSilence::NullReply::kMissing;
  FakeInstances instances;
  std::stop_source end;
  AnswerWatcher watcher{head, instances,
                        [this](int pid) {
                          EXPECT_EQ(pid, 42);
                          return answer;
                        },
                        end.get_token()};
};

TEST_F(AnswerWatcherTest, OneThatAnswersNothingIsEnded) {
  look_for_ms(2 * kDeadWorkersMs);
  ASSERT_FALSE(instances.ended.empty());
  EXPECT_NE(instances.ended[0].find("vnfs1 7: has answered no NULL call"), std::string::npos)
      << instances.ended[0];
}

TEST_F(AnswerWatcherTest, OneThatAnswersIsLeftAlone) {
  answer = WorkerSilence::NullReply::kGiven;
  look_for_ms(2 * kDeadWorkersMs);
  EXPECT_TRUE(instances.ended.empty());
}

TEST_F(AnswerWatcherTest, OneThatMayNotAnswerIsLeftAlone) {
  answer = WorkerSilence::NullReply::kHeld;
  look_for_ms(2 * kDeadWorkersMs);
  EXPECT_TRUE(instances.ended.empty());
}

TEST_F(AnswerWatcherTest, OneThatDoesNotServeIsNotAsked) {
  instances.all["vnfs1"].phase = instance::Phase::kStarting;
  look_for_ms(2 * kDeadWorkersMs);
  instances.all["vnfs1"].phase = instance::Phase::kServing;
  instances.all["vnfs1"].pid = 0;
  look_for_ms(2 * kDeadWorkersMs);
  EXPECT_TRUE(instances.ended.empty());
}

TEST_F(AnswerWatcherTest, SilenceOfTheOneBeforeItDoesNotCount) {
  look_for_ms(kDeadWorkersMs / 2);
  instances.all.clear();
  look_for_ms(kAskEveryMs);
  SetUp();
  look_for_ms(kDeadWorkersMs / 2);
  EXPECT_TRUE(instances.ended.empty());
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
