// An mtime that a client sets beside writes, and records that change beside uncommitted times.
#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

constexpr Ino kFile{42};
const std::string k8K(8192, 'a');

TEST(SetTimes, AnMtimeSetAfterTheLastWriteStays) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
  ASSERT_TRUE(world.set_mtime(kFile, 12345));
  EXPECT_EQ(world.attributes(kFile).mtime_ns, 12345);
  world.pass_ns(10'000'000'000);
  EXPECT_FALSE(world.has_token(kFile));
  EXPECT_EQ(world.attributes(kFile).mtime_ns, 12345);
  // But a chmod does not hide the time of the write.
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
  const std::int64_t written_ns = world.attributes(kFile).mtime_ns;
  world.change_inode(kFile, [](records::Inode& inode) { inode.set_mode(0600); });
  EXPECT_EQ(world.attributes(kFile).mtime_ns, written_ns);
  world.pass_ns(10'000'000'000);
  EXPECT_EQ(world.inode(kFile).mtime_ns(), written_ns);
  EXPECT_EQ(world.inode(kFile).mode(), 0600u);
}

TEST(SetTimes, TheLaterOfWriteAndSetMtimeWins) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  world.pass_ns(10'000'000'000);
  const std::int64_t old_ns = world.inode(kFile).mtime_ns();
  // Set back to its value before the write: the write's time must not return.
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
  ASSERT_TRUE(world.set_mtime(kFile, old_ns));
  EXPECT_FALSE(world.has_token(kFile));
  EXPECT_EQ(world.attributes(kFile).mtime_ns, old_ns);
  world.pass_ns(10'000'000'000);
  EXPECT_EQ(world.attributes(kFile).mtime_ns, old_ns);
  // Set into the future between two writes: the later write counts, also after a chmod.
  const std::int64_t future_ns = old_ns + 1'000'000'000'000;
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
  ASSERT_TRUE(world.set_mtime(kFile, future_ns));
  EXPECT_EQ(world.attributes(kFile).mtime_ns, future_ns);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
  const std::int64_t written_ns = world.attributes(kFile).mtime_ns;
  EXPECT_GT(written_ns, old_ns);
  EXPECT_LT(written_ns, future_ns);
  world.change_inode(kFile, [](records::Inode& inode) { inode.set_mode(0600); });
  EXPECT_EQ(world.attributes(kFile).mtime_ns, written_ns);
  world.pass_ns(10'000'000'000);
  EXPECT_EQ(world.inode(kFile).mtime_ns(), written_ns);
}

TEST(SetTimes, AWriteThatComesWhileTheMtimeIsSetIsTheLaterOne) {
  for (const bool resizes : {false, true}) {
    FileWorld world;
    world.create(kFile);
    ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
    bool written = false;
    std::int64_t set_at_ns = 0;
    const auto edit = [&](records::Inode& inode) {
      set_at_ns = world.session().next_time_ns();
      inode.set_mtime_ns(12345);
      inode.set_ctime_ns(set_at_ns);
      world.data().write(world.handle(kFile), FileOffset{0}, std::as_bytes(std::span(k8K)),
                         WriteStability::kUnstable,
                         [&](Result<WriteResult> result) { written = result.has_value(); });
      EXPECT_FALSE(written) << "it has its turn after the change";
      return Status();
    };
    world.while_pumping([&] {
      const Handle handle = world.handle(kFile);
      EXPECT_TRUE(resizes ? world.data().set_size(handle, 8192, MtimeIs::kChosen, edit)
                          : world.data().set_times(handle, edit));
    });
    EXPECT_EQ(world.inode(kFile).mtime_ns(), 12345);
    world.settle();
    EXPECT_TRUE(written);
    EXPECT_GT(world.attributes(kFile).mtime_ns, set_at_ns);
    world.pass_ns(10'000'000'000);
    EXPECT_GT(world.inode(kFile).mtime_ns(), set_at_ns);
  }
}

// Otherwise GETATTR could show the new record with the old size.
TEST(SetTimes, MemoryAddsNothingToARecordThatChanges) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  for (const bool resizes : {false, true}) {
    ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
    ASSERT_TRUE(world.data().overlay(kFile)->dirty);
    const auto edit = [&](records::Inode&) {
      EXPECT_FALSE(world.data().overlay(kFile)->dirty);
      return Status();
    };
    world.while_pumping([&] {
      const Handle handle = world.handle(kFile);
      EXPECT_TRUE(resizes ? world.data().set_size(handle, 100, MtimeIs::kOfTheChange, edit)
                          : world.data().set_times(handle, edit));
    });
  }
}

TEST(SetTimes, AFlagThatNobodyHasUsedIsDroppedBeforeTheMtimeIsSet) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.has_token(kFile));
  ASSERT_TRUE(world.set_mtime(kFile, 12345));
  EXPECT_FALSE(world.has_token(kFile));
  world.pass_ns(10'000'000'000);
  world.kill();
  world.start();
  EXPECT_EQ(world.attributes(kFile).mtime_ns, 12345);
}

}  // namespace
}  // namespace symnas::fs::test
