#include "fsal_cluster/ops/lookup.h"

#include <gtest/gtest.h>

#include "fsal_cluster/ops/unlink.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

ErrorCode error_of(const Result<Attributes>& result) {
  return result ? ErrorCode::kInternal : result.error().code;
}

TEST(LookupTest, FindsWhatIsThere) {
  World world;
  const Handle dir = world.mkdir(world.root(), "d");
  const Handle file = world.create(dir, "f");
  EXPECT_EQ(lookup(world.context(), dir, "f")->handle, file);
  EXPECT_EQ(lookup(world.context(), dir, ".")->handle, dir);
  EXPECT_EQ(lookup(world.context(), dir, "..")->handle, world.root());
  EXPECT_EQ(lookup(world.context(), world.root(), "..")->handle, world.root());
}

TEST(LookupTest, Refusals) {
  World world;
  const Handle file = world.create(world.root(), "f");
  EXPECT_EQ(error_of(lookup(world.context(), world.root(), "x")), ErrorCode::kNotFound);
  EXPECT_EQ(error_of(lookup(world.context(), file, "x")), ErrorCode::kNotDirectory);
  EXPECT_EQ(error_of(lookup(world.context(), file, "..")), ErrorCode::kNotDirectory);
  EXPECT_EQ(error_of(lookup(world.context(), world.root(), "a/b")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of(lookup(world.context(), world.root(), std::string(300, 'x'))),
            ErrorCode::kNameTooLong);
}

TEST(LookupTest, ARemovedNameIsGone) {
  World world;
  world.create(world.root(), "f");
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "f"));
  EXPECT_EQ(error_of(lookup(world.context(), world.root(), "f")), ErrorCode::kNotFound);
}

TEST(LookupTest, AnEntryWithoutInodeIsCorrupt) {
  World world;
  const Handle file = world.create(world.root(), "f");
  kv::Mutation vanish;
  vanish.writes = {kv::erase(kv::keys::inode(world.fs(), file.ino))};
  ASSERT_TRUE(world.session().commit_blocking(vanish));
  EXPECT_EQ(error_of(lookup(world.context(), world.root(), "f")), ErrorCode::kCorrupt);
}

// Beside the change attribute of a later CREATE the name of an earlier one must not be absent
// (kv_session.md, "Two batches of one directory").
TEST(LookupTest, AwaitsOwnChangesOfTheNameOnly) {
  World world;
  world.create(world.root(), "f");
  world.session().forget();
  ASSERT_TRUE(lookup(world.context(), world.root(), "f"));
  const std::string bucket =
      kv::keys::dirent_bucket(world.fs(), kRootIno, world.context().hasher.hash("f"));
  EXPECT_EQ(world.session().awaited(), std::vector<std::string>{bucket});
}

TEST(LookupTest, ASoleMountNeedsNoBarrierASharedOneDoes) {
  World world;
  world.create(world.root(), "f");
  world.session().forget();
  ASSERT_TRUE(lookup(world.context(), world.root(), "f"));
  EXPECT_EQ(world.session().barriers(), 0);
  world.context().membership.turn_shared();
  ASSERT_TRUE(lookup(world.context(), world.root(), "f"));
  EXPECT_EQ(world.session().barriers(), 1);
}

TEST(ResolveTest, WalksFromTheRoot) {
  World world;
  const Handle a = world.mkdir(world.root(), "a");
  const Handle b = world.mkdir(a, "b");
  EXPECT_EQ(resolve(world.context(), "/")->handle, world.root());
  EXPECT_EQ(resolve(world.context(), "")->handle, world.root());
  EXPECT_EQ(resolve(world.context(), "/a/b")->handle, b);
  EXPECT_EQ(resolve(world.context(), "//a//b/")->handle, b);
  EXPECT_EQ(error_of(resolve(world.context(), "/a/x/b")), ErrorCode::kNotFound);
}

TEST(ResolveTest, DoesNotFollowSymlinks) {
  World world;
  world.symlink(world.root(), "l");
  EXPECT_EQ(error_of(resolve(world.context(), "/l/x")), ErrorCode::kNotDirectory);
}

}  // namespace
}  // namespace symnas::fs
