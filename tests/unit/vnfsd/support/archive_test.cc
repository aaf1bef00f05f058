#include "vnfsd/support/archive.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/unit/vnfsd/support/unpacked.h"
#include "vnfsd/instance/files.h"

namespace symnas::vnfsd::support {
namespace {

class ArchiveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "symnas-archive-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    top = pattern;
    path = top + "/a.tar.gz";
  }
  void TearDown() override { EXPECT_TRUE(instance::remove_tree(top)); }
  std::string top, path;
};

TEST_F(ArchiveTest, MembersComeBack) {
  const std::string large(100'000, 'x');
  {
    auto archive = Archive::create(path);
    ASSERT_TRUE(archive);
    EXPECT_TRUE(archive->add("top/small", "a\n", 17));
    EXPECT_TRUE(archive->add("top/empty", "", 17));
    EXPECT_TRUE(archive->add("top/large", large, 17));
    EXPECT_TRUE(archive->finish());
  }
  const std::map<std::string, std::string> expected = {
      {"top/small", "a\n"}, {"top/empty", ""}, {"top/large", large}};
  EXPECT_EQ(unpacked(path), expected);
  EXPECT_EQ(gunzipped(path).size() % 512, 0u);
  struct stat found {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
}

TEST_F(ArchiveTest, AFileIsNotOverwritten) {
  ASSERT_TRUE(instance::write_file_atomically(path, "mine", 0644));
  const auto archive = Archive::create(path);
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(instance::read_file(path).value_or(""), "mine");
}

TEST_F(ArchiveTest, WhatIsNotWholeIsRemoved) {
  {
    auto archive = Archive::create(path);
    ASSERT_TRUE(archive);
    EXPECT_TRUE(archive->add("a", "b", 0));
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST_F(ArchiveTest, HeaderIsUstar) {
  const auto header = tar_header("a/b", 513, 1);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->substr(257, 8), std::string("ustar\00000", 8));
  EXPECT_EQ(header->substr(124, 11), "00000001001");
  unsigned sum = 0;
  for (std::size_t at = 0; at < header->size(); ++at)
    sum += at >= 148 && at < 156 ? ' ' : static_cast<unsigned char>((*header)[at]);
  EXPECT_EQ(std::stoul(header->substr(148, 6), nullptr, 8), sum);
  EXPECT_EQ(tar_header(std::string(101, 'n'), 0, 0).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(tar_header("", 0, 0).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(tar_header("n", std::uint64_t{1} << 33, 0).error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace symnas::vnfsd::support
