#include "fsal_cluster/ops/statfs.h"

#include <gtest/gtest.h>

#include "fsal_cluster/ops/limits.h"
#include "fsal_cluster/types/limits.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

TEST(StatfsTest, BytesOfTheAllocatorAndFilesAsCounted) {
  World world;
  const auto space = statfs(world.context(), FileUse{12, 88});
  ASSERT_TRUE(space);
  EXPECT_EQ(space->total_bytes, 1000u);
  EXPECT_EQ(space->free_bytes, 400u);
  EXPECT_EQ(space->total_files, 100u);
  EXPECT_EQ(space->free_files, 88u);
}

TEST(StatfsTest, ALimitIsAllThereIs) {
  const SpaceUse space{1000, 600, 100, 50};
  const auto shown = [&](QuotaStanding::Side bytes, QuotaStanding::Side inodes = {}) {
    return within(space, {bytes, inodes});
  };
  const auto expect = [](const SpaceUse& use, std::uint64_t total, std::uint64_t free) {
    EXPECT_EQ(use.total_bytes, total);
    EXPECT_EQ(use.free_bytes, free);
  };
  expect(shown({}), 1000, 600);
  expect(shown({.hard = 300, .used = 100}), 300, 200);
  expect(shown({.hard = 300, .soft = 200, .used = 150}), 200, 50);
  expect(shown({.hard = 300, .soft = 200, .used = 250}), 200, 0);
  expect(shown({.hard = 300, .used = 301}), 300, 0);
  // No more than there is.
  expect(shown({.hard = 5000, .used = 100}), 1000, 600);
  expect(shown({.hard = 900, .used = 100}), 900, 600);
  const SpaceUse files = shown({}, {.hard = 10, .used = 4});
  EXPECT_EQ(files.total_files, 10U);
  EXPECT_EQ(files.free_files, 6U);
  EXPECT_EQ(files.total_bytes, 1000U);
}

TEST(StatfsTest, FilesFitUntilTheReserveOfTheQuota) {
  constexpr std::int64_t kQuota = 8'000'000'000;
  const auto room = [](std::int64_t quota_bytes, std::int64_t in_use_bytes) {
    kv::QuotaGauge gauge(quota_bytes);
    kv::MemberStatus member;
    member.reachable = true;
    member.db_size_bytes = member.db_in_use_bytes = in_use_bytes;
    gauge.look({member});
    return room_for_files(gauge);
  };
  EXPECT_EQ(room_for_files(kv::QuotaGauge(0)), kFilesShown);
  EXPECT_EQ(room(kQuota, 0), kQuota / 10 * 8 / kFileBytesInStore);
  EXPECT_EQ(room(kQuota, kQuota / 2), kQuota / 10 * 3 / kFileBytesInStore);
  EXPECT_EQ(room(kQuota, kQuota / 10 * 9), 0u);
  EXPECT_EQ(room(std::int64_t{1} << 62, 0), kFilesShown);
}

}  // namespace
}  // namespace symnas::fs
