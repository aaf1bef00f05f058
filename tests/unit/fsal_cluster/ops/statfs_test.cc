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
