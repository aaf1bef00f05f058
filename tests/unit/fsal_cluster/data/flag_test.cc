// When the write flag is set and dropped, and the setuid and setgid bits that go with it.
#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

constexpr Ino kFile{42};
const std::string k8K(8192, 'a');

TEST(Flag, TheFlagIsDroppedWithFinalTimesAfterTwoSeconds) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  world.pass_ns(3'000'000'000);
  ASSERT_FALSE(world.has_token(kFile));
  const Attributes before = world.attributes(kFile);
  const std::size_t mutations = world.mutations();
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  EXPECT_EQ(world.mutations(), mutations + 1);  // the flag
  ASSERT_TRUE(world.has_token(kFile));
  const Attributes during = world.attributes(kFile);
  EXPECT_GT(during.change, before.change);
  EXPECT_GT(during.mtime_ns, before.mtime_ns);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  EXPECT_GT(world.attributes(kFile).change, during.change);
  world.pass_ns(1'500'000'000);
  EXPECT_TRUE(world.has_token(kFile));
  world.pass_ns(8'000'000'000);
  EXPECT_FALSE(world.has_token(kFile));
  const Attributes after = world.attributes(kFile);
  EXPECT_GT(after.change, during.change);
  EXPECT_EQ(world.inode(kFile).mtime_ns(), after.mtime_ns);
  EXPECT_GE(after.mtime_ns, during.mtime_ns);
}

TEST(Flag, ACreatedFileThatIsNeverWrittenLosesItsToken) {
  FileWorld world;
  for (std::uint64_t i = 0; i < 10; ++i) world.create(Ino{100 + i});
  EXPECT_TRUE(world.has_token(Ino{105}));
  const Attributes before = world.attributes(Ino{105});
  const std::size_t mutations = world.mutations();
  world.pass_ns(3'000'000'000);
  EXPECT_FALSE(world.has_token(Ino{105}));
  EXPECT_EQ(world.mutations(), mutations + 1);  // all ten in one
  EXPECT_EQ(world.attributes(Ino{105}).change, before.change);
}

TEST(Flag, TheFirstWriteClearsSetuid) {
  FileWorld world;
  world.create(kFile, 06755);
  world.pass_ns(3'000'000'000);  // the token from the create is erased
  ASSERT_TRUE(world.write(kFile, 0, "x", WriteStability::kUnstable).has_value());
  EXPECT_EQ(world.inode(kFile).mode(), 0755u);
}

TEST(Flag, SetuidThatComesWhileTheFlagIsSetIsClearedByTheNextWrite) {
  FileWorld world;
  world.create(kFile, 04755);  // the create puts the flag
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  EXPECT_EQ(world.inode(kFile).mode(), 0755u);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
  ASSERT_TRUE(world.has_token(kFile));
  for (const std::uint32_t mode : {04775u, 02775u, 06771u}) {
    world.change_inode(kFile, [mode](records::Inode& inode) { inode.set_mode(mode); });
    ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
    EXPECT_EQ(world.inode(kFile).mode(), mode & 0777);
    const std::size_t mutations = world.mutations();
    ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
    EXPECT_EQ(world.mutations(), mutations);
  }
  // Without group execute setgid is no privilege.
  world.change_inode(kFile, [](records::Inode& inode) { inode.set_mode(02664); });
  const std::size_t mutations = world.mutations();
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kUnstable).has_value());
  EXPECT_EQ(world.mutations(), mutations);
  EXPECT_EQ(world.inode(kFile).mode(), 02664u);
}

TEST(Flag, AWriteThatCannotClearSetuidChangesNothing) {
  FileWorld world;
  world.create(kFile);
  ASSERT_TRUE(world.write(kFile, 0, k8K, WriteStability::kFileSync).has_value());
  world.change_inode(kFile, [](records::Inode& inode) { inode.set_mode(04755); });
  world.server().set_quota(kv::MemServer::Quota::kFull);
  EXPECT_FALSE(world.write(kFile, 0, pattern(8192, 'Z'), WriteStability::kFileSync).has_value());
  EXPECT_EQ(world.read(kFile, 0, 8192).value(), k8K);
  world.server().set_quota(kv::MemServer::Quota::kFree);
  // No writer is left behind: the flag can be dropped.
  world.pass_ns(10'000'000'000);
  EXPECT_FALSE(world.has_token(kFile));
}

}  // namespace
}  // namespace symnas::fs::test
