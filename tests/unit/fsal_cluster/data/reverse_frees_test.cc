// Frees in a damaged filesystem: what the reverse map gives to another file stays that file's.
#include "fsal_cluster/data/reverse_frees.h"

#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

constexpr Ino kFile{42}, kOther{43};

class ReverseFreesTest : public testing::Test {
 protected:
  ReverseFreesTest() : world(options()) { world.create(kFile); }
  static WorldOptions options() {
    WorldOptions out;
    out.volume_bytes = 64 << 20;
    out.group_blocks = 4096;
    return out;
  }
  static std::string key(std::uint64_t block) {
    return kv::keys::reverse_map(FileWorld::kFs, static_cast<std::uint32_t>(block / 4096), block);
  }
  void put(const std::string& key, const std::string& value) {
    kv::Mutation mutation;
    mutation.writes = {value.empty() ? kv::erase(key) : kv::put(key, value)};
    ASSERT_TRUE(world.session().commit_blocking(std::move(mutation))->succeeded);
  }
  void give_to_other(std::uint64_t block, std::uint32_t blocks) {
    records::ReverseMap entry;
    entry.set_ino(kOther.value());
    entry.set_blocks(blocks);
    put(key(block), entry.SerializeAsString());
  }
  std::optional<std::uint64_t> owner_of(std::uint64_t block) {
    const auto read = world.session().range(kv::single_key(key(block)), 1);
    if (read->kvs.empty()) return std::nullopt;
    records::ReverseMap entry;
    EXPECT_TRUE(entry.ParseFromString(read->kvs.front().value));
    return entry.ino();
  }
  // Two extents of 8 KiB.
  records::Inode two_extents() {
    EXPECT_TRUE(world.write(kFile, 0, pattern(8192, 'a'), WriteStability::kFileSync));
    EXPECT_TRUE(world.write(kFile, 16384, pattern(8192, 'b'), WriteStability::kFileSync));
    world.pass_ns(5'000'000'000);
    return world.inode(kFile);
  }

  FileWorld world;
};

TEST_F(ReverseFreesTest, ARemovalFreesOnlyItsOwn) {
  const records::Inode inode = two_extents();
  ASSERT_EQ(inode.extents_size(), 2);
  give_to_other(inode.extents(0).volume_block(), 2);
  const std::size_t before = world.mutations();
  ASSERT_TRUE(world.remove(kFile));
  EXPECT_EQ(world.mutations(), before + 2) << "it looks after the first try";
  EXPECT_EQ(owner_of(inode.extents(0).volume_block()), kOther.value());
  EXPECT_EQ(owner_of(inode.extents(1).volume_block()), std::nullopt);
}

TEST_F(ReverseFreesTest, ARemovalGoesOnWithoutAnEntry) {
  const records::Inode inode = two_extents();
  put(key(inode.extents(1).volume_block()), "");
  ASSERT_TRUE(world.remove(kFile));
  EXPECT_EQ(world.keys_with(kv::keys::table(FileWorld::kFs, 'u', 'R')), 0u);
}

TEST_F(ReverseFreesTest, ATruncateFreesOnlyItsOwn) {
  const records::Inode inode = two_extents();
  give_to_other(inode.extents(0).volume_block(), 2);
  ASSERT_TRUE(world.set_size(kFile, 0));
  EXPECT_EQ(owner_of(inode.extents(0).volume_block()), kOther.value());
  EXPECT_EQ(owner_of(inode.extents(1).volume_block()), std::nullopt);
  EXPECT_EQ(world.inode(kFile).extents_size(), 0);
}

TEST_F(ReverseFreesTest, ADeallocateFreesOnlyItsOwn) {
  const records::Inode inode = two_extents();
  give_to_other(inode.extents(1).volume_block(), 2);
  ASSERT_TRUE(world.deallocate(kFile, 0, 24576));
  EXPECT_EQ(owner_of(inode.extents(0).volume_block()), std::nullopt);
  EXPECT_EQ(owner_of(inode.extents(1).volume_block()), kOther.value());
}

TEST_F(ReverseFreesTest, ASweepFreesOnlyItsOwn) {
  constexpr MapGeneration kDead{0};
  records::MapChunk map;
  for (std::uint32_t i = 0; i < 3; ++i) {
    records::Extent& extent = *map.add_extents();
    extent.set_file_block(10 * i);
    extent.set_volume_block(8192 + 100 * i);
    extent.set_blocks(4);
    records::ReverseMap entry;
    entry.set_ino(kFile.value());
    entry.set_file_block(kChunkBlocks + 10 * i);
    entry.set_blocks(4);
    put(key(extent.volume_block()), entry.SerializeAsString());
  }
  const std::string chunk = kv::keys::map_chunk(FileWorld::kFs, kFile, kDead, 1);
  put(chunk, map.SerializeAsString());
  give_to_other(8292, 4);
  records::Orphan orphan;
  orphan.set_map_generation(0);
  ASSERT_TRUE(world.data().sweep_orphan(kFile, orphan));
  EXPECT_EQ(world.keys_with(chunk), 0u);
  EXPECT_EQ(owner_of(8192), std::nullopt);
  EXPECT_EQ(owner_of(8292), kOther.value());
  EXPECT_EQ(owner_of(8392), std::nullopt);
}

// The file grows between the read of its record and the removal: that is no damage.
TEST_F(ReverseFreesTest, ARemovalOfAnOldRecordIsNoDamage) {
  ASSERT_TRUE(world.write(kFile, 0, pattern(4096, 'a'), WriteStability::kFileSync));
  const records::Inode old = world.inode(kFile);
  const auto plan = [&] {
    world.while_pumping([&] {
      auto removal = world.data().plan_removal(world.handle(kFile), old);
      ASSERT_TRUE(removal);
      world.data().abandoned(std::move(*removal));
    });
  };
  plan();
  ASSERT_TRUE(world.write(kFile, 4096, pattern(4096, 'b'), WriteStability::kFileSync));
  ASSERT_EQ(world.inode(kFile).extents(0).blocks(), 2u);
  testing::internal::CaptureStdout();
  plan();
  EXPECT_EQ(testing::internal::GetCapturedStdout().find("fs check"), std::string::npos);
  ASSERT_TRUE(world.remove(kFile));
  EXPECT_EQ(world.keys_with(kv::keys::table(FileWorld::kFs, 'u', 'R')), 0u);
}

TEST_F(ReverseFreesTest, WhatIsLeftIsLogged) {
  const records::Inode inode = two_extents();
  give_to_other(inode.extents(0).volume_block(), 2);
  testing::internal::CaptureStdout();
  ASSERT_TRUE(world.set_size(kFile, 0));
  EXPECT_NE(testing::internal::GetCapturedStdout().find("does not give it 1 of its extents"),
            std::string::npos);
}

// A filesystem may have 500,000 groups: what takes no blocks reads no owner, however many conflicts
// it meets.
TEST_F(ReverseFreesTest, ConflictsOfWhatTakesNoBlocksReadNoOwners) {
  int conflicts = 5;
  std::function<void()> other = [&] {
    world.change_inode(kFile, [](records::Inode& inode) { inode.set_uid(inode.uid() + 1); });
    if (--conflicts > 0) world.session().interrupt(other);
  };
  world.session().interrupt(other);
  int ranges = 0;  // of jobs in the background
  world.session().before_range_on_this_thread([&] { ++ranges; });
  ASSERT_TRUE(world.set_size(kFile, 100));
  world.session().before_range_on_this_thread(nullptr);
  EXPECT_EQ(world.inode(kFile).uid(), 5u);
  EXPECT_EQ(ranges, 0);
}

// The blocks were marked as another file's after this mount had given them out.
TEST_F(ReverseFreesTest, BlocksThatAreAnothersByNowEndTheInstance) {
  ASSERT_TRUE(world.write(kFile, 0, pattern(4096, 'a'), WriteStability::kFileSync));
  const std::uint64_t next = world.inode(kFile).extents(0).volume_block() + 1;
  ASSERT_TRUE(world.write(kFile, 4096, pattern(4096, 'b')));
  give_to_other(next, 1);
  EXPECT_EQ(world.commit(kFile).error().code, ErrorCode::kFenced);
  EXPECT_TRUE(world.failed());
  EXPECT_EQ(owner_of(next), kOther.value());
}

// A key of a wrong shape lies among the blocks: the next instance takes none there.
TEST_F(ReverseFreesTest, AKeyOfAWrongShapeEndsNoSecondInstance) {
  ASSERT_TRUE(world.write(kFile, 0, pattern(4096, 'a'), WriteStability::kFileSync));
  put(key(world.inode(kFile).extents(0).volume_block() + 1) + "x", "y");
  ASSERT_TRUE(world.write(kFile, 4096, pattern(4096, 'b')));
  EXPECT_EQ(world.commit(kFile).error().code, ErrorCode::kFenced);
  world.kill();
  world.start();
  EXPECT_TRUE(world.write(kFile, 4096, pattern(4096, 'b'), WriteStability::kFileSync));
  EXPECT_FALSE(world.failed());
}

// The same with an entry of no block, or of more than its group has.
TEST_F(ReverseFreesTest, AnEntryOfAWrongLengthEndsNoSecondInstance) {
  for (const std::uint32_t blocks : {0u, UINT32_MAX}) {
    ASSERT_TRUE(world.write(kFile, 0, pattern(4096, 'a'), WriteStability::kFileSync));
    const std::uint64_t next = world.inode(kFile).extents(0).volume_block() + 1;
    ASSERT_TRUE(world.write(kFile, 4096, pattern(4096, 'b')));
    give_to_other(next, blocks);
    EXPECT_EQ(world.commit(kFile).error().code, ErrorCode::kFenced);
    world.kill();
    world.start();
    EXPECT_TRUE(world.write(kFile, 4096, pattern(4096, 'b'), WriteStability::kFileSync)) << blocks;
    EXPECT_FALSE(world.failed()) << blocks;
    ASSERT_TRUE(world.set_size(kFile, 0));
  }
}

TEST_F(ReverseFreesTest, AFileWithoutItsEntrySaysThatItCannotGrow) {
  ASSERT_TRUE(world.write(kFile, 0, pattern(4096, 'a'), WriteStability::kFileSync));
  const std::uint64_t block = world.inode(kFile).extents(0).volume_block();
  put(key(block), "");
  ASSERT_TRUE(world.write(kFile, 4096, pattern(4096, 'b')));
  const Status refused = world.commit(kFile);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(refused.error().message.find("fs check --repair"), std::string::npos);
  EXPECT_FALSE(world.failed());
}

}  // namespace
}  // namespace symnas::fs::test
