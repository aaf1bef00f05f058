// What becomes of the data of a file that is removed, or that stays after all.
#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

constexpr Ino kFile{42};

TEST(Removal, RemovalFreesAndAbandonedRemovalKeepsUncommittedData) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, pattern(3 << 20, 'A')).has_value());
  const records::Inode before = world.inode(kFile);
  auto plan = world.data().plan_removal(world.handle(kFile), before);
  ASSERT_TRUE(plan.has_value());
  bool answered = false;  // waits, does not fail
  world.data().read(world.handle(kFile), FileOffset{0}, 10, [&](Result<ReadResult> result) {
    EXPECT_TRUE(result.has_value());
    answered = true;
  });
  EXPECT_FALSE(answered);
  world.data().abandoned(std::move(*plan));
  world.settle();
  EXPECT_TRUE(answered);
  ASSERT_TRUE(world.commit(kFile).has_value());
  EXPECT_EQ(world.read(kFile, 0, 4 << 20).value(), pattern(3 << 20, 'A'));
  ASSERT_TRUE(world.remove(kFile).has_value());
  EXPECT_EQ(world.read(kFile, 0, 10).error().code, ErrorCode::kStale);
  world.settle();
  EXPECT_EQ(world.check_records(), 0u);
  EXPECT_EQ(world.keys_with(kv::keys::table(FileWorld::kFs, 'u', 'R')), 0u);
  EXPECT_EQ(world.keys_with(kv::keys::orphans(FileWorld::kFs)), 0u);
  const auto use = world.data().space();
  EXPECT_EQ(use->free_bytes, use->total_bytes);
}

}  // namespace
}  // namespace symnas::fs::test
