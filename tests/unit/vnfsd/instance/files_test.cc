#include "vnfsd/instance/files.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

namespace symnas::vnfsd::instance {
namespace {

class FilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "symnas-files-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory = pattern;
  }
  void TearDown() override { EXPECT_TRUE(remove_tree(directory)); }
  std::string directory;
};

TEST_F(FilesTest, ReplacesCompletelyWithItsMode) {
  const std::string path = directory + "/f";
  ASSERT_TRUE(write_file_atomically(path, "one", 0644));
  ASSERT_TRUE(write_file_atomically(path + ".new", "left by a crash", 0666));
  ASSERT_TRUE(write_file_atomically(path, "two", 0600));
  EXPECT_EQ(*read_file(path), "two");
  struct stat found {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
  EXPECT_EQ(read_file(path + ".new").error().code, ErrorCode::kNotFound);
}

TEST_F(FilesTest, DirectoriesWithParents) {
  EXPECT_TRUE(make_directories(directory + "/a/b/c"));
  EXPECT_TRUE(make_directories(directory + "/a/b/c"));
  ASSERT_TRUE(write_file_atomically(directory + "/f", "x", 0600));
  EXPECT_EQ(make_directories(directory + "/f/g").error().code, ErrorCode::kIo);
}

TEST_F(FilesTest, RemovingWhatIsNotThereIsFine) {
  EXPECT_TRUE(remove_tree(directory + "/nothing"));
  EXPECT_FALSE(write_file_atomically(directory + "/no/such/dir", "x", 0600));
}

TEST(Files, LinesAreJoined) {
  const std::string path = ::testing::TempDir() + "symnas-joined-lines";
  ASSERT_TRUE(write_file_atomically(path, "one\ntwo\n", 0600));
  EXPECT_EQ(lines_of(path), "one; two");
  EXPECT_EQ(lines_of(path + ".none"), "");
}

}  // namespace
}  // namespace symnas::vnfsd::instance
