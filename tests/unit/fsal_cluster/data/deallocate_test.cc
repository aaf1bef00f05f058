// DEALLOCATE: zeros instead of data, blocks free again, size as before.
#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

using ::symnas::test::SimVolume;

constexpr Ino kFile{42};
constexpr std::uint64_t kMiB = 1 << 20;

// `bytes` with [begin, end) zero.
std::string punched(std::string bytes, std::size_t begin, std::size_t end) {
  return bytes.replace(begin, end - begin, end - begin, '\0');
}

TEST(Deallocate, WholeBlocksAreFreedAndEdgesZeroed) {
  FileWorld world;
  world.create(kFile);
  const std::string all = pattern(64 << 10, 'a');
  ASSERT_TRUE(world.write(kFile, 0, all).has_value());
  ASSERT_TRUE(world.commit(kFile).has_value());
  const Attributes before = world.attributes(kFile);
  ASSERT_TRUE(world.deallocate(kFile, 5000, 20000).has_value());
  const Attributes after = world.attributes(kFile);
  EXPECT_EQ(after.size_bytes, before.size_bytes);
  EXPECT_EQ(before.space_used_bytes - after.space_used_bytes, 4u * kBlockBytes);
  EXPECT_GT(after.change, before.change);
  EXPECT_GT(after.mtime_ns, before.mtime_ns);
  EXPECT_EQ(world.read(kFile, 0, 64 << 10).value(), punched(all, 5000, 25000));
  EXPECT_EQ(world.check_records(), 12u);
  world.lose_power();
  world.start();
  EXPECT_EQ(world.read(kFile, 0, 64 << 10).value(), punched(all, 5000, 25000));
  // What is written there later is there.
  ASSERT_TRUE(world.write(kFile, 9000, "again", WriteStability::kFileSync).has_value());
  EXPECT_EQ(world.read(kFile, 8999, 7).value(), std::string("\0again\0", 7));
  EXPECT_EQ(world.check_records(), 13u);
}

TEST(Deallocate, InsideOneBlockOnlyZeros) {
  FileWorld world;
  world.create(kFile);
  const std::string all = pattern(8192, 'a');
  ASSERT_TRUE(world.write(kFile, 0, all, WriteStability::kFileSync).has_value());
  ASSERT_TRUE(world.deallocate(kFile, 100, 200).has_value());
  EXPECT_EQ(world.read(kFile, 0, 8192).value(), punched(all, 100, 300));
  EXPECT_EQ(world.check_records(), 2u);
  world.lose_power();
  world.start();
  EXPECT_EQ(world.read(kFile, 0, 8192).value(), punched(all, 100, 300));
}

TEST(Deallocate, AnEdgeThatFailsMayBeAChange) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, pattern(8192, 'a'), WriteStability::kFileSync).has_value());
  const std::uint64_t change = world.attributes(kFile).change;
  world.volume().fail_next(SimVolume::Kind::kWrite, 1);
  EXPECT_FALSE(world.deallocate(kFile, 100, 200).has_value());
  EXPECT_GT(world.attributes(kFile).change, change);
}

TEST(Deallocate, TheEndOfTheFileAndWhatLiesBehindIt) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, pattern(10000, 'a')).has_value());
  ASSERT_TRUE(world.commit(kFile).has_value());
  const std::uint64_t change = world.attributes(kFile).change;
  ASSERT_TRUE(world.deallocate(kFile, 10000, kMiB).has_value());
  EXPECT_EQ(world.attributes(kFile).change, change);
  ASSERT_TRUE(world.deallocate(kFile, kFileBytesMax, UINT64_MAX).has_value());
  ASSERT_TRUE(world.deallocate(kFile, 4096, UINT64_MAX).has_value());
  EXPECT_EQ(world.attributes(kFile).size_bytes, 10000u);
  EXPECT_EQ(world.read(kFile, 0, 20000).value(), punched(pattern(10000, 'a'), 4096, 10000));
  EXPECT_EQ(world.check_records(), 1u);
  ASSERT_TRUE(world.write(kFile, 12000, "end", WriteStability::kFileSync).has_value());
  EXPECT_EQ(world.read(kFile, 9990, 20).value(), std::string(20, '\0'));
}

TEST(Deallocate, ReservedBlocksAreFreedToo) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.allocate(kFile, 0, 4 * kMiB).has_value());
  ASSERT_TRUE(world.write(kFile, kMiB, pattern(8192, 'x'), WriteStability::kFileSync).has_value());
  ASSERT_TRUE(world.deallocate(kFile, kMiB + 4096, 2 * kMiB).has_value());
  EXPECT_EQ(world.check_records(), 512u);
  EXPECT_EQ(world.read(kFile, kMiB, 8192).value(), punched(pattern(8192, 'x'), 4096, 8192));
  world.kill();
  world.start();
  EXPECT_EQ(world.read(kFile, kMiB, 8192).value(), punched(pattern(8192, 'x'), 4096, 8192));
  ASSERT_TRUE(world.allocate(kFile, 0, 4 * kMiB).has_value());
  EXPECT_EQ(world.check_records(), 1024u);
}

TEST(Deallocate, NothingIsLeftBehindTheEndOfTheFile) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 4 * kMiB, "end").has_value());
  ASSERT_TRUE(world.set_size(kFile, 3 * kMiB + 5000).has_value());
  // A unit of a large sparse file: it goes beyond the end.
  ASSERT_TRUE(world.write(kFile, 3 * kMiB, "unit", WriteStability::kFileSync).has_value());
  EXPECT_GT(world.check_records(), 2u);
  ASSERT_TRUE(world.deallocate(kFile, 3 * kMiB + 4096, kMiB).has_value());
  EXPECT_EQ(world.check_records(), 1u);
}

TEST(Deallocate, AnInlineMapWithTooManyExtentsMoves) {
  FileWorld world;
  world.create(kFile);
  const std::string all = pattern(128 << 10, 'a');
  ASSERT_TRUE(world.write(kFile, 0, all, WriteStability::kFileSync).has_value());
  std::string wanted = all;
  for (std::size_t at = 8192; at < all.size(); at += 16384) {
    ASSERT_TRUE(world.deallocate(kFile, at, 4096).has_value());
    wanted = punched(wanted, at, at + 4096);
  }
  EXPECT_TRUE(world.inode(kFile).chunked());
  EXPECT_EQ(world.inode(kFile).extents_size(), 0);
  EXPECT_EQ(world.check_records(), 24u);
  world.kill();
  world.start();
  EXPECT_EQ(world.read(kFile, 0, all.size()).value(), wanted);
}

TEST(Deallocate, ManyExtentsTakeTransactionsOfBoundedSize) {
  WorldOptions options;
  options.volume_bytes = 64 << 20;
  options.group_blocks = 4096;
  FileWorld world(options);
  world.create(kFile);
  world.create(Ino{7});
  // Two files in turn: each block is an extent.
  for (std::uint64_t block = 0; block < 300; ++block) {
    for (const Ino ino : {kFile, Ino{7}}) {
      ASSERT_TRUE(world.write(ino, block * 4096, std::string(4096, 'z')).has_value());
      ASSERT_TRUE(world.commit(ino).has_value());
      ASSERT_TRUE(world.set_size(ino, (block + 1) * 4096).has_value());
    }
  }
  const std::size_t before = world.session().mutations().size();
  ASSERT_TRUE(world.deallocate(kFile, 4096, 298 * 4096).has_value());
  for (std::size_t i = before; i < world.session().mutations().size(); ++i)
    EXPECT_LE(world.session().mutations()[i].writes.size(), kTruncateOpsMax + 16);
  EXPECT_EQ(world.check_records(), 302u);
  EXPECT_EQ(world.read(kFile, 4000, 200).value(), std::string(96, 'z') + std::string(104, '\0'));
}

TEST(Deallocate, HugeAndSparse) {
  WorldOptions options;
  options.volume_bytes = 64 << 20;
  options.group_blocks = 4096;
  FileWorld world(options);
  world.create(kFile);
  for (std::uint64_t at = 0; at < kFileBytesMax; at += kFileBytesMax / 4)
    ASSERT_TRUE(world.write(kFile, at, "island").has_value());
  ASSERT_TRUE(world.set_size(kFile, kFileBytesMax).has_value());
  ASSERT_TRUE(world.deallocate(kFile, 4096, kFileBytesMax).has_value());
  EXPECT_EQ(world.check_records(), 1u);
  EXPECT_EQ(world.attributes(kFile).size_bytes, kFileBytesMax);
}

}  // namespace
}  // namespace symnas::fs::test
