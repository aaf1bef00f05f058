// ALLOCATE: blocks are reserved for ever and read as zeros; a full volume leaves nothing behind.
#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

constexpr Ino kFile{42};
constexpr std::uint64_t kMiB = 1 << 20;

std::string zeros(std::size_t bytes) { return std::string(bytes, '\0'); }

TEST(Allocate, BlocksAreReservedAndReadAsZeros) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, "head", WriteStability::kFileSync).has_value());
  const Attributes before = world.attributes(kFile);
  ASSERT_TRUE(world.allocate(kFile, 100, 2 * kMiB).has_value());
  const Attributes after = world.attributes(kFile);
  EXPECT_EQ(after.size_bytes, 100 + 2 * kMiB);
  EXPECT_EQ(after.space_used_bytes, 2 * kMiB + kBlockBytes);
  EXPECT_GT(after.change, before.change);
  EXPECT_GT(after.mtime_ns, before.mtime_ns);
  EXPECT_EQ(world.read(kFile, 0, 8).value(), "head" + zeros(4));
  EXPECT_EQ(world.read(kFile, 2 * kMiB, kMiB).value(), zeros(100));
  EXPECT_EQ(world.check_records(), 513u);
  // A second time nothing is left to do; a write fills what is there.
  ASSERT_TRUE(world.allocate(kFile, 0, 2 * kMiB).has_value());
  ASSERT_TRUE(world.write(kFile, kMiB, pattern(5000, 'x'), WriteStability::kFileSync).has_value());
  EXPECT_EQ(world.attributes(kFile).space_used_bytes, after.space_used_bytes);
  EXPECT_EQ(world.read(kFile, kMiB - 1, 5002).value(), zeros(1) + pattern(5000, 'x') + zeros(1));
  EXPECT_EQ(world.check_records(), 513u);
}

TEST(Allocate, TheReservationOutlivesTheInstance) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.allocate(kFile, 0, 3 * kMiB).has_value());
  ASSERT_TRUE(world.write(kFile, kMiB, "x", WriteStability::kFileSync).has_value());
  world.lose_power();
  world.start();
  EXPECT_EQ(world.check_records(), 768u);
  EXPECT_EQ(world.read(kFile, kMiB - 1, 3).value(), std::string("\0x\0", 3));
  EXPECT_EQ(world.read(kFile, 3 * kMiB - 2, 9).value(), zeros(2));
  // The volume is full but for the reservation.
  world.create(Ino{7});
  std::uint64_t at = 0;
  while (world.write(Ino{7}, at, std::string(65536, 'f'))) at += 65536;
  EXPECT_TRUE(world.write(kFile, 0, std::string(3 * kMiB, 'r')).has_value());
  EXPECT_TRUE(world.commit(kFile).has_value());
  world.check_records();
}

TEST(Allocate, WhatDoesNotFitShowsNothing) {
  WorldOptions options;
  options.volume_bytes = 8 * kMiB;
  options.group_blocks = 512;
  FileWorld world(options);
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, pattern(9000, 'a'), WriteStability::kFileSync).has_value());
  const Attributes before = world.attributes(kFile);
  const std::uint64_t free = world.data().space()->free_bytes;
  for (const std::uint64_t bytes : {9 * kMiB, 8 * kMiB, std::uint64_t{1} << 45}) {
    EXPECT_EQ(world.allocate(kFile, 4096, bytes).error().code, ErrorCode::kNoSpace);
  }
  const Attributes after = world.attributes(kFile);
  EXPECT_EQ(after.size_bytes, before.size_bytes);
  EXPECT_EQ(after.space_used_bytes, before.space_used_bytes);
  EXPECT_EQ(world.check_records(), 3u);
  EXPECT_EQ(world.data().space()->free_bytes, free);
  EXPECT_TRUE(world.allocate(kFile, 4096, 7 * kMiB).has_value());
  EXPECT_TRUE(world.allocate(kFile, 0, 7 * kMiB).has_value()) << "it has these blocks";
  EXPECT_EQ(world.allocate(kFile, kFileBytesMax - 1, 2).error().code, ErrorCode::kOutOfRange);
  EXPECT_EQ(world.allocate(kFile, 1, UINT64_MAX).error().code, ErrorCode::kOutOfRange);
}

TEST(Allocate, HolesBetweenDataAreFilledAndTheOldEndIsZeroed) {
  WorldOptions options;
  options.volume_bytes = 160 * kMiB;
  options.group_blocks = 8192;
  FileWorld world(options);
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, pattern(9000, 'a'), WriteStability::kFileSync).has_value());
  ASSERT_TRUE(world.write(kFile, kMapChunkBytes + 4096, pattern(4096, 'b')).has_value());
  ASSERT_TRUE(world.set_size(kFile, kMapChunkBytes + 5000).has_value());
  ASSERT_TRUE(world.allocate(kFile, 0, kMapChunkBytes + 2 * kMiB).has_value());
  EXPECT_EQ(world.check_records(), (kMapChunkBytes + 2 * kMiB) / kBlockBytes);
  EXPECT_EQ(world.read(kFile, 0, 10000).value(), pattern(9000, 'a') + zeros(1000));
  EXPECT_EQ(world.read(kFile, kMapChunkBytes + 4096, 8192).value(),
            pattern(4096, 'b').substr(0, 904) + zeros(8192 - 904));
  // Truncation gives everything back.
  ASSERT_TRUE(world.set_size(kFile, 10 * kBlockBytes).has_value());
  world.settle();
  EXPECT_EQ(world.check_records(), 10u);
  ASSERT_TRUE(world.remove(kFile).has_value());
  world.settle();
  EXPECT_EQ(world.check_records(), 0u);
}

TEST(Allocate, SetuidGoesAsWithAWrite) {
  FileWorld world;
  world.create(kFile, 06755);
  ASSERT_TRUE(world.allocate(kFile, 0, 4096).has_value());
  EXPECT_EQ(world.inode(kFile).mode(), 0755u);
}

}  // namespace
}  // namespace symnas::fs::test
