#include "fsal_cluster/data/range_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Mode = RangeLock::Mode;

std::vector<WaiterId> release(RangeLock& lock, WaiterId id) {
  std::vector<WaiterId> granted;
  lock.release(id, granted);
  return granted;
}

TEST(RangeLock, OverlappingSharedRangesGoTogetherExclusiveOnesWait) {
  RangeLock lock;
  EXPECT_TRUE(lock.acquire(1, 0, 10, Mode::kShared));
  EXPECT_TRUE(lock.acquire(2, 5, 15, Mode::kShared));
  EXPECT_FALSE(lock.acquire(3, 9, 12, Mode::kExclusive));
  EXPECT_TRUE(lock.acquire(4, 15, 20, Mode::kExclusive));
  EXPECT_THAT(release(lock, 1), IsEmpty());
  EXPECT_THAT(release(lock, 2), ElementsAre(3));
  EXPECT_THAT(release(lock, 3), IsEmpty());
  EXPECT_THAT(release(lock, 4), IsEmpty());
}

TEST(RangeLock, IsFair) {
  RangeLock lock;
  EXPECT_TRUE(lock.acquire(1, 0, 10, Mode::kShared));
  EXPECT_FALSE(lock.acquire(2, 0, 10, Mode::kExclusive));
  EXPECT_FALSE(lock.acquire(3, 0, 10, Mode::kShared));  // behind 2
  EXPECT_TRUE(lock.acquire(4, 10, 11, Mode::kShared));
  EXPECT_THAT(release(lock, 1), ElementsAre(2));
  EXPECT_THAT(release(lock, 2), ElementsAre(3));
}

TEST(RangeLock, OneReleaseMayLetSeveralIn) {
  RangeLock lock;
  EXPECT_TRUE(lock.acquire(1, 0, 100, Mode::kExclusive));
  EXPECT_FALSE(lock.acquire(2, 0, 10, Mode::kExclusive));
  EXPECT_FALSE(lock.acquire(3, 10, 20, Mode::kExclusive));
  EXPECT_FALSE(lock.acquire(4, 5, 15, Mode::kExclusive));
  EXPECT_THAT(release(lock, 1), ElementsAre(2, 3));
  EXPECT_THAT(release(lock, 2), IsEmpty());
  EXPECT_THAT(release(lock, 3), ElementsAre(4));
}

TEST(IoLock, ExclusiveDrainsAndIsNotStarved) {
  IoLock lock;
  std::vector<WaiterId> granted;
  EXPECT_TRUE(lock.acquire_shared(1));
  EXPECT_TRUE(lock.acquire_shared(2));
  EXPECT_FALSE(lock.acquire_exclusive(3));
  EXPECT_FALSE(lock.acquire_shared(4));
  lock.release_shared(granted);
  EXPECT_THAT(granted, IsEmpty());
  lock.release_shared(granted);
  EXPECT_THAT(granted, ElementsAre(3));
  EXPECT_FALSE(lock.acquire_shared(5));
  granted.clear();
  lock.release_exclusive(granted);
  EXPECT_THAT(granted, ElementsAre(4, 5));
  EXPECT_EQ(lock.shared(), 2u);
}

}  // namespace
}  // namespace symnas::fs
