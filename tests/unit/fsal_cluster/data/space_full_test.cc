// A full volume: kNoSpace comes only when no more space can be found, and nothing half-written is
// visible.
#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

using ::symnas::test::SimVolume;
constexpr Ino kFile{42};
const std::string kMegabyte(1 << 20, 'm');

WorldOptions small_volume() {
  WorldOptions options;
  options.volume_bytes = 8 << 20;
  options.group_blocks = 512;
  return options;
}

// Writes until the volume is full; returns how much fitted.
std::uint64_t fill_up(FileWorld& world, Ino ino) {
  for (std::uint64_t at = 0;; at += 256 << 10) {
    const Status written = world.write(ino, at, std::string(256 << 10, 'f'));
    if (written) continue;
    EXPECT_EQ(written.error().code, ErrorCode::kNoSpace) << written.error().message;
    return at;
  }
}

TEST(SpaceFull, EveryBlockCanBeUsedThenNoSpace) {
  FileWorld world(small_volume());
  world.create(kFile);
  EXPECT_EQ(fill_up(world, kFile), 8u << 20);
  ASSERT_TRUE(world.commit(kFile).has_value());
  EXPECT_EQ(world.inode(kFile).size_bytes(), 8u << 20);
  EXPECT_EQ(world.check_records(), (8u << 20) / kBlockBytes);
  EXPECT_EQ(world.data().space()->free_bytes, 0u);
  // A write in place needs no space.
  EXPECT_TRUE(world.write(kFile, 12345, kMegabyte, WriteStability::kFileSync).has_value());
}

TEST(SpaceFull, AWriteThatDoesNotFitShowsNothing) {
  FileWorld world(small_volume());
  world.create(Ino{1});
  fill_up(world, Ino{1});
  ASSERT_TRUE(world.set_size(Ino{1}, (8 << 20) - 65536).has_value());
  world.settle();
  world.create(kFile);
  const Attributes before = world.attributes(kFile);
  EXPECT_EQ(world.write(kFile, 0, kMegabyte).error().code, ErrorCode::kNoSpace);
  const Attributes after = world.attributes(kFile);
  EXPECT_EQ(after.size_bytes, 0u);
  EXPECT_EQ(after.change, before.change);
  EXPECT_TRUE(world.write(kFile, 0, std::string(65536, 's')).has_value());
  ASSERT_TRUE(world.commit(kFile).has_value());
  world.check_records();
}

TEST(SpaceFull, IdleFilesGiveBackTheirReservations) {
  FileWorld world(small_volume());
  world.create(Ino{1});
  for (std::uint64_t at = 0; at < 3 << 20; at += 64 << 10) {
    ASSERT_TRUE(world.write(Ino{1}, at, std::string(64 << 10, 'r')).has_value());
  }
  world.create(kFile);
  EXPECT_EQ(fill_up(world, kFile), 5u << 20);
}

TEST(SpaceFull, WaitsForASweepThatIsOnItsWay) {
  FileWorld world(small_volume());
  world.create(Ino{1});
  fill_up(world, Ino{1});
  ASSERT_TRUE(world.commit(Ino{1}).has_value());
  // The file is removed, but not swept yet.
  ASSERT_TRUE(
      world.data().set_size(world.handle(Ino{1}), 0, MtimeIs::kOfTheChange, nullptr).has_value());
  world.create(kFile);
  EXPECT_TRUE(world.write(kFile, 0, kMegabyte).has_value());
}

TEST(SpaceFull, WaitsForIoThatMayStillReadTheFreedBlocks) {
  WorldOptions options = small_volume();
  options.mode = SimVolume::Mode::kQueued;
  FileWorld world(options);
  world.create(Ino{1});
  world.create(Ino{2});
  ASSERT_TRUE(world.write(Ino{2}, 0, "reader").has_value());
  fill_up(world, Ino{1});
  world.create(kFile);
  // A slow READ began before the free.
  std::optional<std::string> slow;
  world.data().read(world.handle(Ino{2}), FileOffset{0}, 6, [&](Result<ReadResult> result) {
    slow = std::string(reinterpret_cast<const char*>(result->buffer.data()), result->bytes);
  });
  ASSERT_TRUE(world.commit(Ino{1}).has_value());
  ASSERT_TRUE(world.remove(Ino{1}).has_value());
  EXPECT_TRUE(world.write(kFile, 0, kMegabyte).has_value());
  world.settle();
  EXPECT_EQ(slow, "reader");
}

TEST(SpaceFull, SpaceComesBackAfterRemovalAgainAndAgain) {
  FileWorld world(small_volume());
  for (std::uint64_t round = 1; round <= 4; ++round) {
    world.create(Ino{round});
    EXPECT_EQ(fill_up(world, Ino{round}), 8u << 20) << "round " << round;
    if (round % 2 == 0) {
      ASSERT_TRUE(world.commit(Ino{round}).has_value());
    }
    ASSERT_TRUE(world.remove(Ino{round}).has_value());
  }
  world.settle();
  EXPECT_EQ(world.data().space()->free_bytes, 8u << 20);
}

TEST(SpaceFull, TheNextMountSeesTheSameSpace) {
  FileWorld world(small_volume());
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, kMegabyte, WriteStability::kFileSync).has_value());
  ASSERT_TRUE(world.write(kFile, 1 << 20, kMegabyte).has_value());  // never committed
  world.kill();
  world.start();
  EXPECT_EQ(world.data().space()->free_bytes, 7u << 20);
  world.create(Ino{2});
  EXPECT_EQ(fill_up(world, Ino{2}), 7u << 20);
  EXPECT_EQ(world.read(kFile, 0, 2 << 20).value(), kMegabyte);
}

}  // namespace
}  // namespace symnas::fs::test
