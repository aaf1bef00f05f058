#include "fsal_cluster/state/membership_plan.h"

#include <gtest/gtest.h>

#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

using Kind = MembershipStep::Kind;
constexpr MountId kSelf{3};
constexpr MountId kOther{4};

MembershipView view(Membership::Mode mode) {
  MembershipView out;
  out.self = kSelf;
  out.mode = mode;
  if (mode == Membership::Mode::kSole) out.solo = Peers::Solo{kSelf, Revision{5}};
  return out;
}

TEST(MembershipPlanTest, TheHolderOfSoloMakesRoomForWhoWantsToJoin) {
  MembershipPlan plan;
  MembershipView sole = view(Membership::Mode::kSole);
  EXPECT_EQ(plan.next(sole, 0, 0).kind, Kind::kWait);
  sole.solo_wanted = true;
  sole.ended = {{kOther}};
  EXPECT_EQ(plan.next(sole, 0, 0).kind, Kind::kMakeRoom)
      << "before anything else: a mount waits for it";
  sole.mode = Membership::Mode::kShared;
  EXPECT_EQ(plan.next(sole, 0, 0).kind, Kind::kMakeRoom) << "shared, but `solo` is still there";
  sole.solo->holder = kOther;
  sole.ended.clear();
  EXPECT_EQ(plan.next(sole, 0, 0).kind, Kind::kWait) << "`solo` is another mount's";
}

// The removal of an orphan had begun alone and waited for a token that an ended mount had left; the
// mount that was to take over from it waited for the removal (simulation of heads, seed
// 197508709000083737).
TEST(MembershipPlanTest, WhileSoleStaysEndItTakesOver) {
  MembershipPlan plan;
  MembershipView draining = view(Membership::Mode::kShared);
  draining.solo = Peers::Solo{kSelf, Revision{5}};
  draining.solo_wanted = true;
  draining.draining = true;
  draining.ended = {{kOther}};
  const MembershipStep wait = plan.next(draining, 1000, kDrainPollNs + 1);
  EXPECT_EQ(wait.kind, Kind::kWait);
  EXPECT_EQ(wait.wake_ns, 1000 + kDrainPollNs);
  EXPECT_EQ(plan.next(draining, kDrainPollNs + 1001, 0).kind, Kind::kTakeOver);
  draining.draining = false;
  EXPECT_EQ(plan.next(draining, kDrainPollNs + 1001, 0).kind, Kind::kMakeRoom);
  draining.draining = true;
  draining.solo_wanted = false;
  draining.no_others = true;
  draining.ended.clear();
  EXPECT_EQ(plan.next(draining, kDrainPollNs + 1001, 0).kind, Kind::kWait)
      << "not alone again before all know that it was not";
}

TEST(MembershipPlanTest, TakesOverAfterARandomWaitUnlessSomebodyWasFaster) {
  MembershipPlan plan;
  MembershipView shared = view(Membership::Mode::kShared);
  shared.ended = {{kOther}};
  const MembershipStep wait = plan.next(shared, 1000, 50'000'000);
  EXPECT_EQ(wait.kind, Kind::kWait);
  EXPECT_EQ(wait.wake_ns, 50'001'000);
  EXPECT_EQ(plan.next(shared, 50'000'999, 7).kind, Kind::kWait) << "the wait is drawn only once";
  const MembershipStep take = plan.next(shared, 50'001'000, 7);
  EXPECT_EQ(take.kind, Kind::kTakeOver);
  EXPECT_EQ(take.ended, kOther);
  plan.failed(take, 60'000'000);
  EXPECT_EQ(plan.next(shared, 59'999'999, 7).kind, Kind::kWait);
  EXPECT_EQ(plan.next(shared, 60'000'000, 7).kind, Kind::kTakeOver);
  shared.ended.clear();
  EXPECT_EQ(plan.next(shared, 60'000'001, 7).kind, Kind::kWait);
}

TEST(MembershipPlanTest, TakesOverOnceHoweverLongALateWatchShowsTheEnd) {
  MembershipPlan plan;
  MembershipView shared = view(Membership::Mode::kShared);
  constexpr MountId kThird{5};
  shared.ended = {{kOther}, {kThird}};
  plan.next(shared, 0, 0);
  plan.taken_over(kOther);
  EXPECT_EQ(plan.next(shared, 10, 0).ended, kThird) << "who comes next does not wait";
  plan.taken_over(kThird);
  const MembershipStep rest = plan.next(shared, kSoloAfterNs, 0);
  EXPECT_EQ(rest.kind, Kind::kWait);
  EXPECT_FALSE(rest.wake_ns);
}

TEST(MembershipPlanTest, WhatACloseLeftIsTakenOverWhenItsVnfsHasMoved) {
  MembershipPlan plan;
  MembershipView shared = view(Membership::Mode::kShared);
  shared.ended = {{kOther, true}};
  EXPECT_EQ(plan.next(shared, 0, 7).wake_ns, kTakeOverAfterCloseNs + 7);
  EXPECT_EQ(plan.next(shared, kTakeOverAfterCloseNs + 7, 0).kind, Kind::kTakeOver);
}

TEST(MembershipPlanTest, BecomesSoleAfterBeingAloneForLong) {
  MembershipPlan plan;
  MembershipView shared = view(Membership::Mode::kShared);
  EXPECT_EQ(plan.next(shared, 0, 0).kind, Kind::kWait);
  EXPECT_FALSE(plan.next(shared, kSoloAfterNs, 0).wake_ns) << "others are there";
  shared.no_others = true;
  EXPECT_EQ(plan.next(shared, kSoloAfterNs, 0).wake_ns, 2 * kSoloAfterNs);
  shared.no_others = false;
  plan.next(shared, kSoloAfterNs + 1, 0);
  shared.no_others = true;
  EXPECT_EQ(plan.next(shared, kSoloAfterNs + 2, 0).kind, Kind::kWait) << "it begins anew";
  EXPECT_EQ(plan.next(shared, 2 * kSoloAfterNs + 1, 0).kind, Kind::kWait);
  EXPECT_EQ(plan.next(shared, 2 * kSoloAfterNs + 2, 0).kind, Kind::kBecomeSole);
  shared.solo_wanted = true;
  EXPECT_EQ(plan.next(shared, 2 * kSoloAfterNs + 3, 0).kind, Kind::kWait);
}

TEST(MembershipPlanTest, SoloThatIsPutAlreadyNeedsNoOtherWait) {
  MembershipPlan plan;
  MembershipView shared = view(Membership::Mode::kShared);
  shared.no_others = true;
  shared.solo = Peers::Solo{kSelf, Revision{5}};
  const MembershipStep step = plan.next(shared, 0, 0);
  EXPECT_EQ(step.kind, Kind::kBecomeSole);
  plan.failed(step, 10);
  EXPECT_EQ(plan.next(shared, 9, 0).wake_ns, 10);
  EXPECT_EQ(plan.next(shared, 10, 0).kind, Kind::kBecomeSole);
}

}  // namespace
}  // namespace symnas::fs
