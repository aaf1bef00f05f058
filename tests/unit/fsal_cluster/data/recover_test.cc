// What an ended mount leaves, and what the next mount makes of it.
#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

constexpr Ino kFile{42};

// INV-5: an in-place write was acknowledged, then the mount died. No client may take the new bytes
// for the old ones.
TEST(Recover, AWriteFlagLeftBehindChangesTheChangeAttribute) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, std::string(8192, 'a'), WriteStability::kFileSync).has_value());
  world.pass_ns(5'000'000'000);
  const Attributes seen = world.attributes(kFile);
  ASSERT_TRUE(world.write(kFile, 0, std::string(512, 'b'), WriteStability::kFileSync).has_value());
  const Attributes shown = world.attributes(kFile);
  world.kill();
  world.start();
  const Attributes after = world.attributes(kFile);
  EXPECT_GT(after.change, seen.change);
  EXPECT_GT(after.change, shown.change);
  EXPECT_GT(after.mtime_ns, seen.mtime_ns);
  EXPECT_EQ(world.keys_with(kv::keys::tokens(FileWorld::kFs)), 0u);
  EXPECT_EQ(world.read(kFile, 0, 512).value(), std::string(512, 'b'));
}

// What is shown under the new change attribute is stable: no LUN's cache holds it alone any more.
TEST(Recover, WhatTheNextMountShowsSurvivesAPowerLoss) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, std::string(8192, 'a'), WriteStability::kFileSync).has_value());
  ASSERT_TRUE(world.write(kFile, 0, std::string(4096, 'b')).has_value());
  world.kill();
  world.start();
  const std::string shown = world.read(kFile, 0, 8192).value();
  const Attributes attributes = world.attributes(kFile);
  world.lose_power();
  world.start();
  EXPECT_TRUE(world.read(kFile, 0, 8192).value() == shown ||
              world.attributes(kFile).change != attributes.change);
}

// One unreadable record must not keep the next mount from its recovery.
TEST(Recover, AnUnreadableRecordKeepsNobodyFromOpening) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, std::string(8192, 'a'), WriteStability::kFileSync).has_value());
  world.pass_ns(5'000'000'000);
  ASSERT_TRUE(world.write(kFile, 0, std::string(512, 'b'), WriteStability::kFileSync).has_value());
  ASSERT_TRUE(world.has_token(kFile));
  kv::Mutation damage;
  damage.writes = {kv::put(kv::keys::inode(FileWorld::kFs, kFile), "\xff")};
  ASSERT_TRUE(world.session().commit_blocking(std::move(damage))->succeeded);
  world.kill();
  world.start();
  EXPECT_EQ(world.keys_with(kv::keys::tokens(FileWorld::kFs)), 0u);
  EXPECT_EQ(world.read(kFile, 0, 512).error().code, ErrorCode::kCorrupt);
  constexpr Ino kSound{50};
  world.create(kSound);
  EXPECT_TRUE(world.write(kSound, 0, "x", WriteStability::kFileSync).has_value());
}

TEST(Recover, AFileWithoutFlagIsLeftAlone) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, "x", WriteStability::kFileSync).has_value());
  world.pass_ns(5'000'000'000);
  const Attributes seen = world.attributes(kFile);
  world.kill();
  world.start();
  EXPECT_EQ(world.attributes(kFile).change, seen.change);
}

// An mtime set by SETATTR after a write was acknowledged: a death does not undo it.
TEST(Recover, AMtimeThatWasSetStays) {
  for (const bool written : {false, true}) {
    FileWorld world;
    world.create(kFile);
    const std::string bytes = written ? "x" : "";
    ASSERT_TRUE(world.write(kFile, 0, bytes).has_value());
    const Status set = world.set_mtime(kFile, 12345);
    ASSERT_TRUE(set) << set.error().message;
    world.kill();
    world.start();
    EXPECT_EQ(world.attributes(kFile).mtime_ns, 12345) << "written " << written;
    EXPECT_EQ(world.read(kFile, 0, 1).value(), bytes);
  }
}

TEST(Recover, ASizeAndMtimeThatWereSetStay) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, "xyz", WriteStability::kFileSync).has_value());
  ASSERT_TRUE(world.write(kFile, 0, "XYZ").has_value());
  const auto edit = [](records::Inode& inode) {
    inode.set_mtime_ns(12345);
    return Status();
  };
  world.while_pumping(
      [&] { EXPECT_TRUE(world.data().set_size(world.handle(kFile), 2, MtimeIs::kChosen, edit)); });
  world.kill();
  world.start();
  EXPECT_EQ(world.attributes(kFile).mtime_ns, 12345);
  EXPECT_EQ(world.attributes(kFile).size_bytes, 2u);
}

TEST(Recover, ManyTokens) {
  FileWorld world;
  for (std::uint64_t i = 0; i < 200; ++i) {
    world.create(Ino{100 + i});
    ASSERT_TRUE(world.write(Ino{100 + i}, 0, "x").has_value());
  }
  world.kill();
  world.start();
  EXPECT_EQ(world.keys_with(kv::keys::tokens(FileWorld::kFs)), 0u);
}

TEST(Recover, GroupsOfTheEndedAreFree) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, "x", WriteStability::kFileSync).has_value());
  world.kill();
  world.start();
  for (const kv::KeyValue& kv : world.server().dump()) {
    if (!kv.key.starts_with(kv::keys::group_owners(FileWorld::kFs))) continue;
    records::GroupOwner owner;
    ASSERT_TRUE(owner.ParseFromString(kv.value));
    EXPECT_EQ(owner.mount(), 0u);
  }
  ASSERT_TRUE(
      world.write(kFile, 0, std::string(100000, 'y'), WriteStability::kFileSync).has_value());
  world.check_records();
}

TEST(Recover, AGroupOfALivingMountIsNotTouched) {
  WorldOptions options;
  options.volume_bytes = 8 << 20;
  options.group_blocks = 1024;
  FileWorld world(options);
  records::GroupOwner other;
  other.set_mount(77);  // no end record
  kv::Mutation mutation;
  mutation.writes.push_back(
      kv::put(kv::keys::group_owner(FileWorld::kFs, 0), other.SerializeAsString()));
  ASSERT_TRUE(world.session().commit_blocking(std::move(mutation))->succeeded);
  world.kill();
  world.start();
  world.create(kFile);
  std::uint64_t at = 0;
  while (world.write(kFile, at, std::string(65536, 'f')).has_value()) at += 65536;
  EXPECT_EQ(at, 4u << 20);
  ASSERT_TRUE(world.commit(kFile).has_value());
  const records::Inode inode = world.inode(kFile);
  for (const records::Extent& extent : inode.extents()) {
    EXPECT_GE(extent.volume_block(), 1024u);
  }
}

TEST(Recover, AnOldInstanceCannotRecordAnythingAfterItsEnd) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, "late").has_value());
  kv::Mutation end;
  end.writes.push_back(kv::put(kv::keys::mount_ended(FileWorld::kFs, world.mount()), "fenced"));
  ASSERT_TRUE(world.session().commit_blocking(std::move(end))->succeeded);
  EXPECT_EQ(world.commit(kFile).error().code, ErrorCode::kEnded);
}

}  // namespace
}  // namespace symnas::fs::test
