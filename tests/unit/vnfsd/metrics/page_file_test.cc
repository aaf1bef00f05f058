#include "vnfsd/metrics/page_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include <gtest/gtest.h>

namespace symnas::vnfsd::metrics {
namespace {

class PageFile : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(directory); }
  mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 0777;
  }
  const std::string directory = testing::TempDir() + "symnas-page-file";
};

TEST_F(PageFile, IsReadByAnybodyWhateverTheUmask) {
  const mode_t before = ::umask(0077);
  ASSERT_TRUE(make_page_directory(directory));
  ASSERT_TRUE(write_page(directory, "one\n"));
  ::umask(before);
  EXPECT_EQ(mode_of(directory), 0755u);
  EXPECT_EQ(mode_of(directory + "/" + kPageName), 0644u);
  ASSERT_TRUE(make_page_directory(directory)) << "it may be there";
}

TEST_F(PageFile, ShowsTheLastPageAndItsAge) {
  ASSERT_TRUE(make_page_directory(directory));
  EXPECT_EQ(read_page(directory).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(write_page(directory, "a longer one\n"));
  ASSERT_TRUE(write_page(directory, "two\n"));
  const auto page = read_page(directory);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->text, "two\n");
  EXPECT_GE(page->age_s, 0);
  EXPECT_LT(page->age_s, 60);
  struct timespec long_ago[2] = {{1, 0}, {1, 0}};
  ::utimensat(AT_FDCWD, (directory + "/" + kPageName).c_str(), long_ago, 0);
  EXPECT_GT(read_page(directory)->age_s, 1e9);
}

TEST_F(PageFile, FollowsNoLink) {
  ASSERT_TRUE(make_page_directory(directory));
  std::filesystem::create_symlink("/etc/hostname", directory + "/" + kPageName);
  EXPECT_FALSE(read_page(directory));
}

TEST_F(PageFile, SaysWhyItCannotBeWritten) {
  EXPECT_EQ(write_page(directory + "/missing", "x").error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace symnas::vnfsd::metrics
