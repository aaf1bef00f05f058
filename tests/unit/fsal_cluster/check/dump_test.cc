#include "fsal_cluster/check/dump.h"

#include <gtest/gtest.h>

#include "fsal_cluster/check/usage.h"
#include "tests/unit/fsal_cluster/check/check_world.h"

namespace symnas::fs::test {
namespace {

class DumpTest : public testing::Test {
 protected:
  DumpTest() {
    world.mount();
    world.populate();
  }
  check::View view() {
    auto opened = check::View::open(world.store, "u04");
    EXPECT_TRUE(opened.has_value());
    return std::move(*opened);
  }
  CheckWorld world;
};

TEST_F(DumpTest, APathLeadsToItsInode) {
  check::View now = view();
  EXPECT_EQ(check::resolve(now, "/")->value(), 1u);
  EXPECT_EQ(check::resolve(now, "/a/small")->value(), check::resolve(now, "/a/b/c/again")->value());
  EXPECT_EQ(check::resolve(now, "/a//b/")->value(), 17u);
  const auto missing = check::resolve(now, "/a/nothing/x");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find("'nothing'"), std::string::npos);
  EXPECT_EQ(check::resolve(now, "a").error().code, ErrorCode::kInvalidArgument);
}

TEST_F(DumpTest, EveryByteOfTheExtentsIsOnALun) {
  check::View now = view();
  for (const char* path : {"/a/small", "/a/b/large", "/a/b/holes"}) {
    const auto dump = check::dump_inode(now, *check::resolve(now, path));
    ASSERT_TRUE(dump) << dump.error().message;
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t at = 0;
    for (const check::DumpedExtent& extent : dump->extents) {
      EXPECT_GE(extent.file_block, at) << "ascending";
      at = extent.file_block + extent.blocks;
      blocks += extent.blocks;
      for (const cvm::Piece& piece : extent.pieces) bytes += piece.length_bytes;
    }
    EXPECT_EQ(blocks, dump->inode.used_blocks()) << path;
    EXPECT_EQ(bytes, blocks * 4096) << path;
  }
  const auto holes = check::dump_inode(now, *check::resolve(now, "/a/b/holes"));
  EXPECT_EQ(holes->extents.back().file_block % 16384, ((70 << 20) / 4096) % 16384);
}

TEST_F(DumpTest, ADirectoryHasTimesAndNoExtents) {
  check::View now = view();
  const auto dump = check::dump_inode(now, kRootIno);
  ASSERT_TRUE(dump);
  EXPECT_TRUE(dump->times.has_value());
  EXPECT_TRUE(dump->extents.empty());
  EXPECT_EQ(check::dump_inode(now, Ino{9999}).error().code, ErrorCode::kNotFound);
}

TEST_F(DumpTest, UsageCountsAsTheCheckDoes) {
  check::View now = view();
  const auto usage = check::count_usage(now);
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->files, 6u);
  EXPECT_EQ(usage->directories, 5u);
  EXPECT_EQ(usage->others, 2u);
  EXPECT_GT(usage->used_blocks, 768u);
  EXPECT_GT(usage->bytes, usage->keys * 10);
}

}  // namespace
}  // namespace symnas::fs::test
