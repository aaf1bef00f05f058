#include "fsal_cluster/quota/usage_slots.h"

#include <gtest/gtest.h>

#include "fsal_cluster/quota/limits.h"

namespace symnas::fs {
namespace {

Usages of(std::uint32_t uid, std::int64_t blocks) {
  Usages out;
  add(out, Subject{SubjectKind::kUser, uid}, {blocks, 0});
  return out;
}

TEST(UsageSlots, OperationsAtOnceHaveSlotsOfTheirOwn) {
  UsageSlots slots;
  const auto first = slots.take(of(1, 1));
  const auto second = slots.take(of(1, 1));
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->slot, second->slot);
}

TEST(UsageSlots, ASlotGoesOnFromWhatSucceeded) {
  UsageSlots slots;
  slots.give_back(*slots.take(of(1, 5)), UsageSlots::Outcome::kSucceeded);
  slots.give_back(*slots.take(of(1, 7)), UsageSlots::Outcome::kNothing);
  const auto taken = slots.take(of(1, 2));
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->slot, 0U);
  EXPECT_EQ(taken->after, of(1, 7));
}

TEST(UsageSlots, AFullSlotIsLeftForFolding) {
  UsageSlots slots;
  for (std::uint32_t uid = 0; uid < kUsageCountsMax; ++uid)
    slots.give_back(*slots.take(of(uid, 1)), UsageSlots::Outcome::kSucceeded);
  const auto next = slots.take(of(1000, 1));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->slot, 1U);
  // Whom it counts already it goes on counting.
  const auto again = slots.take(of(3, 1));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->slot, 0U);
  slots.give_back(*again, UsageSlots::Outcome::kSucceeded);

  auto full = slots.take_full();
  ASSERT_TRUE(full);
  EXPECT_EQ(full->usages.size(), kUsageCountsMax);
  EXPECT_FALSE(slots.take_full());
  slots.give_back(full->taken, UsageSlots::Outcome::kSucceeded);
  EXPECT_EQ(slots.take(of(2000, 1))->after, of(2000, 1));
}

TEST(UsageSlots, KnowsHowManyAreFull) {
  UsageSlots slots;
  for (std::uint32_t uid = 0; uid < kUsageCountsMax / 2; ++uid) {
    EXPECT_EQ(slots.full(), 0U);
    slots.give_back(*slots.take(of(uid, 1)), UsageSlots::Outcome::kSucceeded);
  }
  EXPECT_EQ(slots.full(), 1U);
  auto lost = slots.take_full();  // a fold that failed
  ASSERT_TRUE(lost);
  slots.give_back(lost->taken, UsageSlots::Outcome::kNothing);
  EXPECT_EQ(slots.full(), 1U);
  slots.give_back(slots.take_full()->taken, UsageSlots::Outcome::kSucceeded);
  EXPECT_EQ(slots.full(), 0U);
}

TEST(UsageSlots, HasABound) {
  UsageSlots slots;
  for (std::uint32_t i = 0; i < kUsageSlotsMax; ++i) ASSERT_TRUE(slots.take(of(1, 1)));
  EXPECT_FALSE(slots.take(of(1, 1)));
}

}  // namespace
}  // namespace symnas::fs
