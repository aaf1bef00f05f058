// LUNs that are files; block devices are in tests/contract/cvm/lun_alias_test.cc.
#include "cvm/lun_node.h"

#include <sys/stat.h>

#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

TEST(LunNode, SymlinksResolveToOneNode) {
  const LunFiles files;
  const std::string path = files.make("disk");
  std::filesystem::create_symlink("disk", files.path("link"));
  const auto direct = canonical_lun_node(path);
  const auto linked = canonical_lun_node(files.directory() + "/./link");
  ASSERT_TRUE(direct && linked);
  EXPECT_EQ(direct->path, linked->path);
  EXPECT_EQ(direct->lock_inode, linked->lock_inode);
  EXPECT_EQ(direct->kind, LunKind::kFile);
}

TEST(LunNode, OnlyFilesAndBlockDevicesAreLuns) {
  const LunFiles files;
  EXPECT_EQ(canonical_lun_node(files.path("none")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(canonical_lun_node(files.directory()).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(canonical_lun_node("/dev/null").error().code, ErrorCode::kInvalidArgument);
  ASSERT_EQ(::mkfifo(files.path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(canonical_lun_node(files.path("fifo")).error().code, ErrorCode::kInvalidArgument);
}

TEST(LunNode, HardLinkedFileHasNoCanonicalName) {
  const LunFiles files;
  const std::string path = files.make("disk");
  std::filesystem::create_hard_link(path, files.path("other"));
  EXPECT_TRUE(resolve_lun_node(path));
  EXPECT_EQ(canonical_lun_node(path).error().code, ErrorCode::kBusy);
  std::filesystem::remove(files.path("other"));
  EXPECT_TRUE(canonical_lun_node(path));
}

}  // namespace
}  // namespace symnas::cvm
