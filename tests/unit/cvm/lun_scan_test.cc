#include <gmock/gmock.h>

#include "cvm/lun.h"
#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

using ::testing::HasSubstr;

class LunScanTest : public ::testing::Test {
 protected:
  LunScan scan(std::vector<std::string> candidates) {
    auto found = scan_luns(kCluster, candidates);
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(LunScan{});
  }
  LunFiles files_;
};

TEST_F(LunScanTest, FindsOurLunsByLabelWhereverTheyAre) {
  files_.import("LUN1");
  files_.import("LUN0");
  files_.make("empty");
  files_.make("tiny", 100);
  ASSERT_TRUE(import_lun({.cluster = test_uuid(9), .name = "X", .path = files_.make("foreign")}));
  std::filesystem::create_directory(files_.path("dir"));
  std::filesystem::rename(files_.path("LUN1"), files_.path("dir") + "/moved");

  const LunScan found = scan({files_.directory(), files_.path("dir")});
  ASSERT_EQ(found.found.size(), 2u);
  EXPECT_EQ(found.found[0].label.name, "LUN0");
  EXPECT_EQ(found.found[1].label.name, "LUN1");
  EXPECT_EQ(found.found[1].path, files_.path("dir") + "/moved");
  EXPECT_TRUE(found.problems.empty());
}

TEST_F(LunScanTest, ManyNamesOfOneFileAreOneLun) {
  files_.import("LUN0");
  std::filesystem::create_symlink(files_.path("LUN0"), files_.path("by-id"));
  const LunScan found =
      scan({files_.directory(), files_.path("LUN0"), files_.path("by-*"), files_.path("none")});
  ASSERT_EQ(found.found.size(), 1u);
  EXPECT_EQ(found.found[0].path, files_.path("LUN0"));
  EXPECT_TRUE(found.problems.empty());
}

TEST_F(LunScanTest, PathThatLooksLikeAPatternIsAlsoAPath) {
  files_.import("LUN0");
  std::filesystem::rename(files_.path("LUN0"), files_.path("LUN[0]"));
  EXPECT_EQ(scan({files_.path("LUN[0]")}).found.size(), 1u);
}

TEST_F(LunScanTest, TwoDevicesWithOneUuidAreBothRefused) {
  files_.import("LUN0");
  files_.import("LUN1");
  files_.make("clone");
  for (const std::uint64_t copy : {std::uint64_t{0}, kLunBytesMin - kLabelBytes})
    patch_file(files_.path("clone"), copy, read_file_bytes(files_.path("LUN0"), copy, kLabelBytes));
  const LunScan found = scan({files_.directory()});
  ASSERT_EQ(found.found.size(), 1u);
  EXPECT_EQ(found.found[0].label.name, "LUN1");
  ASSERT_EQ(found.problems.size(), 2u);
  for (const ScanProblem& problem : found.problems) {
    EXPECT_EQ(problem.error.code, ErrorCode::kBusy);
    EXPECT_THAT(problem.error.message, HasSubstr(files_.path("LUN0")));
    EXPECT_THAT(problem.error.message, HasSubstr(files_.path("clone")));
  }
}

TEST_F(LunScanTest, HardLinkedLunIsAProblemNotALun) {
  files_.import("LUN0");
  std::filesystem::create_hard_link(files_.path("LUN0"), files_.path("other"));
  const LunScan found = scan({files_.directory()});
  EXPECT_TRUE(found.found.empty());
  EXPECT_EQ(found.problems.size(), 2u);
}

TEST_F(LunScanTest, DamagedCopyIsReported) {
  files_.import("LUN0");
  files_.import("LUN1");
  patch_file(files_.path("LUN0"), 0, "scribble");
  patch_file(files_.path("LUN1"), 0, "scribble");
  patch_file(files_.path("LUN1"), kLunBytesMin - 4000, "scribble");
  const LunScan found = scan({files_.directory()});
  ASSERT_EQ(found.found.size(), 1u);
  EXPECT_TRUE(found.found[0].needs_repair);
  ASSERT_EQ(found.problems.size(), 1u);
  EXPECT_EQ(found.problems[0].error.code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace symnas::cvm
