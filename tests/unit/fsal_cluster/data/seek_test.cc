// SEEK: what was written is data, whether it is recorded or not; everything else is a hole.
#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

constexpr Ino kFile{42};
constexpr std::uint64_t kMiB = 1 << 20;

// "12" = found at 12; "12 end" = there is none, the file ends at 12; "none" = at or behind the end.
std::string sought(FileWorld& world, std::uint64_t offset, Content content) {
  const auto got = world.seek(kFile, offset, content);
  if (!got) return got.error().message;
  if (!*got) return "none";
  return std::to_string((*got)->offset) + ((*got)->end_of_file ? " end" : "");
}

TEST(Seek, DataHolesAndTheEnd) {
  FileWorld world;
  world.create(kFile);
  EXPECT_EQ(sought(world, 0, Content::kHole), "none");
  ASSERT_TRUE(world.write(kFile, 8192, pattern(5000, 'a')).has_value());  // not recorded
  EXPECT_EQ(sought(world, 0, Content::kData), "8192");
  EXPECT_EQ(sought(world, 0, Content::kHole), "0");
  EXPECT_EQ(sought(world, 9000, Content::kData), "9000");
  EXPECT_EQ(sought(world, 9000, Content::kHole), "13192 end");
  EXPECT_EQ(sought(world, 13192, Content::kHole), "none");
  EXPECT_EQ(sought(world, 99999, Content::kData), "none");
  ASSERT_TRUE(world.set_size(kFile, 20000).has_value());
  EXPECT_EQ(sought(world, 9000, Content::kHole), "16384");
  EXPECT_EQ(sought(world, 16384, Content::kData), "20000 end");
  EXPECT_EQ(sought(world, 16385, Content::kHole), "16385");
}

TEST(Seek, ReservedBlocksAreHolesUntilTheyAreWritten) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.allocate(kFile, 0, 2 * kMiB).has_value());
  EXPECT_EQ(sought(world, 0, Content::kData), "2097152 end");
  ASSERT_TRUE(world.write(kFile, kMiB, pattern(4096, 'a')).has_value());
  EXPECT_EQ(sought(world, 0, Content::kData), "1048576");
  EXPECT_EQ(sought(world, kMiB, Content::kHole), "1052672");
  ASSERT_TRUE(world.deallocate(kFile, kMiB, 4096).has_value());
  EXPECT_EQ(sought(world, 0, Content::kData), "2097152 end");
}

TEST(Seek, SkipsWhatHasNoMapAtOnce) {
  FileWorld world;
  world.create(kFile);
  const std::uint64_t far = std::uint64_t{1} << 45;
  ASSERT_TRUE(world.write(kFile, far, "x").has_value());
  EXPECT_EQ(sought(world, 0, Content::kData), std::to_string(far));
  ASSERT_TRUE(world.commit(kFile).has_value());
  world.close_cleanly();
  world.start();
  EXPECT_EQ(sought(world, 0, Content::kData), std::to_string(far));
  EXPECT_EQ(sought(world, 0, Content::kHole), "0");
  EXPECT_EQ(sought(world, far, Content::kHole), std::to_string(far + 1) + " end");
}

}  // namespace
}  // namespace symnas::fs::test
