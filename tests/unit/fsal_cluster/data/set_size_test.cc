// What a size change does to the bytes, to the map, and to I/O under way.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

using ::symnas::test::SimVolume;
constexpr Ino kFile{42};
const std::string k8K(8192, 'a');

TEST(SetSize, TheOldEndOfTheFileIsZeroedBeforeItMovesUp) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, pattern(4000, 'A'), WriteStability::kFileSync).has_value());
  ASSERT_TRUE(world.set_size(kFile, 1000).has_value());
  ASSERT_TRUE(world.set_size(kFile, 3000).has_value());
  EXPECT_EQ(world.read(kFile, 0, 5000).value(), pattern(1000, 'A') + std::string(2000, '\0'));
  ASSERT_TRUE(world.set_size(kFile, 500).has_value());
  ASSERT_TRUE(world.write(kFile, 2000, "end", WriteStability::kFileSync).has_value());
  EXPECT_EQ(world.read(kFile, 0, 5000).value(),
            pattern(500, 'A') + std::string(1500, '\0') + "end");
}

TEST(SetSize, AMapInTheInodeIsCutAtOnceHoweverLargeTheFileIs) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, "x", WriteStability::kFileSync).has_value());
  ASSERT_TRUE(world.set_size(kFile, std::uint64_t{1} << 40).has_value());
  ASSERT_TRUE(world.set_size(kFile, 1).has_value());
  EXPECT_FALSE(world.inode(kFile).has_trim_block());
  world.settle();
  EXPECT_EQ(world.inode(kFile).used_blocks(), 1u);
  EXPECT_EQ(world.check_records(), 1u);
}

TEST(SetSize, LargeTruncatesLeaveAWatermarkAndASweep) {
  WorldOptions options;
  options.volume_bytes = 36 << 20;
  options.group_blocks = 4096;
  FileWorld world(options);
  world.create(kFile);
  for (std::uint64_t chunk = 0; chunk < 30; ++chunk) {
    ASSERT_TRUE(world.write(kFile, chunk * kMapChunkBytes + 4096, k8K).has_value());
  }
  ASSERT_TRUE(world.commit(kFile).has_value());
  const std::uint64_t all = world.check_records();
  // Nothing is pumped: the sweep waits.
  ASSERT_TRUE(
      world.data()
          .set_size(world.handle(kFile), kMapChunkBytes + 5000, MtimeIs::kOfTheChange, nullptr)
          .has_value());
  EXPECT_TRUE(world.inode(kFile).has_trim_block());
  EXPECT_EQ(world.inode(kFile).size_bytes(), kMapChunkBytes + 5000);
  // Growth past the watermark waits for the sweep; what lies above reads as zeros.
  ASSERT_TRUE(world.set_size(kFile, 3 * kMapChunkBytes).has_value());
  EXPECT_FALSE(world.inode(kFile).has_trim_block());
  EXPECT_EQ(world.read(kFile, 2 * kMapChunkBytes + 4096, 5).value(), std::string(5, '\0'));
  EXPECT_EQ(world.read(kFile, kMapChunkBytes + 4999, 3).value(), std::string("a\0\0", 3));
  world.settle();
  EXPECT_LT(world.check_records(), all);
  EXPECT_EQ(world.keys_with(kv::keys::orphans(FileWorld::kFs)), 0u);

  ASSERT_TRUE(world.set_size(kFile, 0).has_value());
  EXPECT_EQ(world.inode(kFile).map_generation(), 1u);
  world.settle();
  EXPECT_EQ(world.check_records(), 0u);
  EXPECT_EQ(world.keys_with(kv::keys::orphans(FileWorld::kFs)), 0u);
  ASSERT_TRUE(world.write(kFile, 0, "again", WriteStability::kFileSync).has_value());
  EXPECT_EQ(world.inode(kFile).extents_size(), 1);
}

TEST(SetSize, AWatermarkOfADeadInstanceIsSweptByTheNext) {
  WorldOptions options;
  options.volume_bytes = 36 << 20;
  options.group_blocks = 4096;
  FileWorld world(options);
  world.create(kFile);
  for (std::uint64_t chunk = 0; chunk < 30; ++chunk) {
    ASSERT_TRUE(world.write(kFile, chunk * kMapChunkBytes, k8K).has_value());
  }
  ASSERT_TRUE(world.commit(kFile).has_value());
  // The mount ends at the moment of the truncate: the sweep never ran.
  const auto truncated =
      world.data().set_size(world.handle(kFile), 4096, MtimeIs::kOfTheChange, nullptr);
  ASSERT_TRUE(truncated.has_value());
  ASSERT_TRUE(world.inode(kFile).has_trim_block());
  world.kill();
  world.start();
  EXPECT_FALSE(world.inode(kFile).has_trim_block());
  EXPECT_EQ(world.check_records(), 1u);
  EXPECT_EQ(world.keys_with(kv::keys::orphans(FileWorld::kFs)), 0u);
}

TEST(SetSize, SizeChangesAndRemovalWaitForIoInFlight) {
  WorldOptions options;
  options.mode = SimVolume::Mode::kQueued;
  FileWorld world(options);
  world.create(kFile);
  ASSERT_TRUE(
      world.write(kFile, 0, std::string(65536, 'a'), WriteStability::kFileSync).has_value());
  world.settle();
  bool written = false;
  world.data().write(world.handle(kFile), FileOffset{8192}, std::as_bytes(std::span(k8K)),
                     WriteStability::kUnstable, [&](Result<WriteResult> result) {
                       EXPECT_TRUE(result.has_value());
                       written = true;
                     });
  ASSERT_FALSE(written);  // on its way
  std::atomic<bool> changed{false};
  std::thread truncate([&] {
    EXPECT_TRUE(world.data()
                    .set_size(world.handle(kFile), 4096, MtimeIs::kOfTheChange, nullptr)
                    .has_value());
    EXPECT_TRUE(written);
    changed = true;
  });
  // Its transaction would be the next one; none comes while the write is queued.
  const std::size_t before = world.mutations();
  for (int i = 0; i < 200; ++i) std::this_thread::yield();
  EXPECT_EQ(world.mutations(), before);
  EXPECT_FALSE(changed);
  while (!changed) {
    if (!world.step()) std::this_thread::yield();
  }
  truncate.join();
  EXPECT_EQ(world.attributes(kFile).size_bytes, 4096u);
  world.check_records();
}

}  // namespace
}  // namespace symnas::fs::test
