#include "fsal_cluster/state/membership.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace symnas::fs {
namespace {

TEST(MembershipTest, StaysAreOfTheModeTheyBeganIn) {
  Membership membership(Membership::Mode::kSole);
  EXPECT_TRUE(membership.enter().sole());
  membership.turn_shared();
  EXPECT_FALSE(membership.enter().sole());
  membership.turn_sole();
  EXPECT_TRUE(membership.enter().sole());
}

TEST(MembershipTest, TurningSharedWaitsForTheLastSoleStay) {
  Membership membership(Membership::Mode::kSole);
  std::atomic<bool> turned{false};
  std::thread turning;
  {
    const Membership::Stay stay = membership.enter();
    turning = std::thread([&] {
      membership.turn_shared();
      turned = true;
    });
    while (membership.is_sole()) std::this_thread::yield();
    EXPECT_FALSE(membership.enter().sole()) << "later ones are shared already";
    EXPECT_FALSE(turned);
  }
  turning.join();
  EXPECT_TRUE(turned);
}

TEST(MembershipTest, ItIsSettledWhenTheLastSoleStayHasEnded) {
  Membership membership(Membership::Mode::kSole);
  {
    const Membership::Stay stay = membership.enter();
    membership.begin_shared();
    EXPECT_FALSE(membership.settle());
    EXPECT_FALSE(membership.is_settled());
  }
  EXPECT_TRUE(membership.is_settled());
  EXPECT_TRUE(membership.settle());
  EXPECT_TRUE(membership.is_settled());
}

TEST(MembershipTest, NoSoleStayIsLeftWhenItHasTurned) {
  Membership membership(Membership::Mode::kSole);
  std::atomic<int> sole{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] {
      while (!stop) {
        const Membership::Stay stay = membership.enter();
        if (!stay.sole()) continue;
        ++sole;
        --sole;
      }
    });
  }
  for (int round = 0; round < 50; ++round) {
    membership.turn_shared();
    for (int look = 0; look < 100; ++look) EXPECT_EQ(sole, 0);
    membership.turn_sole();
  }
  stop = true;
  for (std::thread& worker : workers) worker.join();
}

}  // namespace
}  // namespace symnas::fs
