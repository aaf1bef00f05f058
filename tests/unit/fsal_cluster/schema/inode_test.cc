#include "fsal_cluster/schema/inode.h"

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

Node file_node() {
  Node node;
  node.ino = Ino{20};
  node.mod_revision = Revision{9};
  node.record.set_type(1);
  node.record.set_mode(0640);
  node.record.set_uid(10);
  node.record.set_gid(11);
  node.record.set_nlink(2);
  node.record.set_generation(3);
  node.record.set_size_bytes(5000);
  node.record.set_used_blocks(2);
  node.record.set_atime_ns(1);
  node.record.set_mtime_ns(2);
  node.record.set_ctime_ns(3);
  return node;
}

Directory directory_node() {
  Directory directory{file_node(), std::nullopt, Revision{0}};
  directory.node.record.set_type(2);
  return directory;
}

TEST(InodeTest, AttributesOfAFile) {
  const Attributes out = attributes_of(FsId{1}, file_node(), 4096);
  EXPECT_EQ(out.handle, (Handle{FsId{1}, Ino{20}, Generation{3}}));
  EXPECT_EQ(out.mode, 0640u);
  EXPECT_EQ(out.nlink, 2u);
  EXPECT_EQ(out.size_bytes, 5000u);
  EXPECT_EQ(out.space_used_bytes, 8192u);
  EXPECT_EQ(out.change, 9u << 16);
  EXPECT_FALSE(out.exclusive_verifier);
}

TEST(InodeTest, ADirectoryWithoutTimesShowsItsInode) {
  const Attributes out = attributes_of(FsId{1}, directory_node());
  EXPECT_EQ(out.mtime_ns, 2);
  EXPECT_EQ(out.ctime_ns, 3);
  EXPECT_EQ(out.change, 9u << 16);
  EXPECT_EQ(out.size_bytes, kDirectorySizeBytes);
}

TEST(InodeTest, AContentChangeMovesMtimeCtimeAndChange) {
  Directory directory = directory_node();
  directory.times.emplace();
  directory.times->set_time_ns(100);
  directory.times_mod_revision = Revision{12};
  const Attributes out = attributes_of(FsId{1}, directory);
  EXPECT_EQ(out.mtime_ns, 100);
  EXPECT_EQ(out.ctime_ns, 100);
  EXPECT_EQ(out.change, 12u << 16);
}

TEST(InodeTest, AChmodAfterAContentChangeKeepsMtime) {
  Directory directory = directory_node();
  directory.times.emplace();
  directory.times->set_time_ns(100);
  directory.times_mod_revision = Revision{8};
  directory.node.record.set_ctime_ns(200);
  const Attributes out = attributes_of(FsId{1}, directory);
  EXPECT_EQ(out.mtime_ns, 100);
  EXPECT_EQ(out.ctime_ns, 200);
  EXPECT_EQ(out.change, 9u << 16);
}

TEST(InodeTest, AnMtimeThatWasSetWinsOverTheContentTime) {
  Directory directory = directory_node();
  directory.times.emplace();
  directory.times->set_time_ns(100);
  directory.times->set_mtime_ns(-5);
  const Attributes out = attributes_of(FsId{1}, directory);
  EXPECT_EQ(out.mtime_ns, -5);
  EXPECT_EQ(out.ctime_ns, 100);
}

TEST(InodeTest, AnAbsentKeyIsNoNode) {
  const auto node = parse_node(Ino{20}, kv::CachedValue{});
  ASSERT_TRUE(node);
  EXPECT_FALSE(node->has_value());
}

TEST(InodeTest, BytesThatWeNeverWroteAreCorrupt) {
  records::Inode unknown;
  unknown.set_type(8);
  for (const std::string& bytes : {std::string("\xff\xff\xff"), unknown.SerializeAsString()}) {
    const auto node = parse_node(Ino{20}, kv::CachedValue{bytes, Revision{1}});
    ASSERT_FALSE(node);
    EXPECT_EQ(node.error().code, ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace symnas::fs
