// Which fences stand still, and what becomes of them.
#include "vnfsd/daemon/fencing/fence_watch.h"

#include <gtest/gtest.h>

#include "vnfsd/daemon/fencing/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

using Next = AbandonedFence::Next;
using Abandoned = std::vector<AbandonedFence>;
constexpr std::int64_t kTimeoutS = 3;
constexpr std::int64_t kSpanMs = fence_span_ms(kTimeoutS);

class FenceWatchTest : public ::testing::Test {
 protected:
  FenceWatchTest() {
    view.heads["c1n2"].record.set_incarnation("boot2");
    fence("c1n3", records::FENCE_RUNNING, 7);
  }
  void fence(const std::string& by, records::FenceState state, std::int64_t revision) {
    auto& stored = view.fences["c1n2"];
    stored.mod_revision = Revision{revision};
    stored.record.set_incarnation("boot2");
    stored.record.set_by(by);
    stored.record.set_state(state);
    stored.record.set_silent_since_ns(1);
  }
  Abandoned look(std::int64_t now_ms, FenceWatch::UnderWay here = FenceWatch::UnderWay::kNone) {
    return watch.look(now_ms, view, "c1n1", here, 1, heard);
  }

  ClusterView view;
  std::set<std::string> heard;
  FenceWatch watch;
};

TEST_F(FenceWatchTest, OfAnotherHeadWhenItsLadderIsOver) {
  view.fences["c1n2"].record.set_agent_timeout_s(kTimeoutS);  // longer than ours
  EXPECT_EQ(look(1'000), Abandoned{});
  EXPECT_EQ(look(999 + kSpanMs), Abandoned{});
  EXPECT_EQ(look(1'000 + kSpanMs), (Abandoned{{"c1n2", Revision{7}, Next::kTakeOver}}));
  fence("c1n3", records::FENCE_PROVEN, 8);  // it goes on
  EXPECT_EQ(look(2'000 + kSpanMs), Abandoned{});
}

// After a restart of vnfsd, or when etcd did not say what became of a step.
TEST_F(FenceWatchTest, OfThisHeadAtOnceUnlessItIsUnderWay) {
  for (const auto state : {records::FENCE_RUNNING, records::FENCE_PROVEN}) {
    fence("c1n1", state, 9);
    EXPECT_EQ(look(1'000, FenceWatch::UnderWay::kOne), Abandoned{});
    EXPECT_EQ(look(1'001), (Abandoned{{"c1n2", Revision{9}, Next::kTakeOver}}));
  }
}

TEST_F(FenceWatchTest, AHeadThatIsHeardAgainIsNotFencedForWhatWasSeenLongAgo) {
  fence("c1n1", records::FENCE_RUNNING, 9);
  heard = {"c1n2"};
  EXPECT_EQ(look(1'000), (Abandoned{{"c1n2", Revision{9}, Next::kGiveUp}}));
  fence("c1n1", records::FENCE_PROVEN, 10);  // its instances are disproved already
  EXPECT_EQ(look(1'001), (Abandoned{{"c1n2", Revision{10}, Next::kTakeOver}}));
  fence("c1n1", records::FENCE_RUNNING, 11);
  view.fences["c1n2"].record.set_silent_since_ns(0);  // an administrator wants it
  EXPECT_EQ(look(1'002), (Abandoned{{"c1n2", Revision{11}, Next::kTakeOver}}));
}

TEST_F(FenceWatchTest, WhatIsOverOrNotOfThisBootIsLeftAlone) {
  for (const auto state : {records::FENCE_FAILED, records::FENCE_DONE}) {
    fence("c1n1", state, 9);
    EXPECT_EQ(look(1'000), Abandoned{});
  }
  fence("c1n1", records::FENCE_RUNNING, 10);
  view.heads["c1n2"].record.set_incarnation("boot2b");
  EXPECT_EQ(look(1'001), Abandoned{});
}

TEST_F(FenceWatchTest, NobodyFencesItself) {
  view.fences["c1n1"] = view.fences["c1n2"];
  view.fences.erase("c1n2");
  view.heads["c1n1"].record.set_incarnation("boot2");
  look(0);
  EXPECT_EQ(look(10 * kSpanMs), Abandoned{});
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
