#include "fsal_cluster/ops/getattr.h"

#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

TEST(GetattrTest, TheRootOfANewFilesystem) {
  World world;
  const Attributes root = world.attributes(world.root());
  EXPECT_EQ(root.type, FileType::kDirectory);
  EXPECT_EQ(root.mode, 0777u);
  EXPECT_GT(root.change, 0u);
  EXPECT_GT(root.mtime_ns, 0);
}

TEST(GetattrTest, UncommittedWritesAreShown) {
  World world;
  const Handle file = world.create(world.root(), "f");
  const Attributes record = world.attributes(file);
  Overlay overlay;
  overlay.dirty = true;
  overlay.size_bytes = 777;
  overlay.mtime_ns = record.mtime_ns + 5;
  overlay.change_n = 3;
  overlay.change_base = Revision{static_cast<std::int64_t>(record.change >> 16)};
  overlay.used_blocks_extra = 2;
  world.data().overlays[file.ino] = overlay;
  const Attributes seen = world.attributes(file);
  EXPECT_EQ(seen.size_bytes, 777u);
  EXPECT_EQ(seen.mtime_ns, record.mtime_ns + 5);
  EXPECT_EQ(seen.change, record.change + 3);
  EXPECT_EQ(seen.space_used_bytes, 8192u);
}

TEST(GetattrTest, FromTheCacheItIsTheSame) {
  World world;
  const Handle file = world.create(world.root(), "f");
  Overlay overlay;
  overlay.dirty = true;
  overlay.size_bytes = 777;
  world.data().overlays[file.ino] = overlay;
  for (const Handle& handle : {world.root(), file, world.symlink(world.root(), "l")}) {
    const Attributes seen = world.attributes(handle);
    const auto known = getattr_from_cache(world.context(), handle);
    ASSERT_TRUE(known && *known);
    EXPECT_EQ((*known)->size_bytes, seen.size_bytes);
    EXPECT_EQ((*known)->change, seen.change);
    EXPECT_EQ((*known)->mtime_ns, seen.mtime_ns);
  }
}

TEST(GetattrTest, FromTheCacheItNeverAsks) {
  World world;
  const std::uint64_t loads = world.session().counters().cache_loads;
  const Handle unknown{world.fs(), Ino{9999}, Generation{1}};
  EXPECT_FALSE(getattr_from_cache(world.context(), unknown));
  EXPECT_EQ(world.session().counters().cache_loads, loads);
  EXPECT_FALSE(getattr(world.context(), unknown));  // now it is known not to exist
  const auto known = getattr_from_cache(world.context(), unknown);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->error().code, ErrorCode::kStale);
  world.context().membership.turn_shared();
  EXPECT_FALSE(getattr_from_cache(world.context(), world.root()));
}

TEST(GetattrTest, HandlesThatAreNotValid) {
  World world;
  const Handle file = world.create(world.root(), "f");
  for (const Handle& bad :
       {Handle{world.fs(), Ino{9999}, Generation{1}}, Handle{FsId{99}, file.ino, file.generation},
        Handle{world.fs(), file.ino, Generation{77}}}) {
    const auto attributes = getattr(world.context(), bad);
    ASSERT_FALSE(attributes);
    EXPECT_EQ(attributes.error().code, ErrorCode::kStale);
  }
}

}  // namespace
}  // namespace symnas::fs
