#include "fsal_cluster/ops/retry.h"

#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

TEST(RetryTest, PausesGrowToTheBound) {
  EXPECT_EQ(conflict_pause_us(1, 0), kConflictPauseMinUs / 2);
  EXPECT_LT(conflict_pause_us(1, ~std::uint64_t{0}), 2 * kConflictPauseMinUs);
  for (const std::uint64_t random : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    EXPECT_GE(conflict_pause_us(kConflictRetriesMax, random), kConflictPauseMaxUs / 2);
    EXPECT_LT(conflict_pause_us(kConflictRetriesMax, random), 2 * kConflictPauseMaxUs);
  }
}

TEST(RetryTest, GivesUpAfterTheBound) {
  World world;
  int attempts = 0;
  int pauses = 0;
  world.context().pause = [&](int) { ++pauses; };
  const Status done = retry_conflicts(world.context(), [&](int) -> Status {
    ++attempts;
    return fail(ErrorCode::kConflict, "always");
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kConflict);
  EXPECT_EQ(attempts, kConflictRetriesMax + 1);
  EXPECT_EQ(pauses, kConflictRetriesMax);
}

TEST(RetryTest, ASharedMountConfirmsANegativeAnswerOnce) {
  World world;
  world.context().membership.turn_shared();
  world.session().forget();
  int attempts = 0;
  const Status done = retry_conflicts(world.context(), [&](int) -> Status {
    ++attempts;
    return fail(ErrorCode::kNotFound, "no");
  });
  EXPECT_FALSE(done);
  EXPECT_EQ(attempts, 2);
  EXPECT_EQ(world.session().barriers(), 1);
}

TEST(RetryTest, OtherErrorsPassAtOnce) {
  World world;
  int attempts = 0;
  const Status done = retry_conflicts(world.context(), [&](int) -> Status {
    ++attempts;
    return fail(ErrorCode::kEnded, "gone");
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kEnded);
  EXPECT_EQ(attempts, 1);
}

}  // namespace
}  // namespace symnas::fs
