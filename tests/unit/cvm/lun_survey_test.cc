#include "cvm/lun_survey.h"

#include <gmock/gmock.h>

#include "cvm/ofd_lock.h"
#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

using ::testing::HasSubstr;

class LunSurveyTest : public ::testing::Test {
 protected:
  SurveyedDevice survey(const std::string& name) {
    const auto node = resolve_lun_node(files_.path(name));
    EXPECT_TRUE(node) << node.error().message;
    return survey_device(*node);
  }
  // Whether import_lun() takes it.
  bool importable(const std::string& name) {
    return import_lun({.cluster = kCluster, .name = "X", .path = files_.path(name)}).has_value();
  }
  // A device with the header of a swap area (include/linux/swap.h, union swap_header).
  void make_swap(const std::string& name) {
    files_.make(name);
    patch_file(files_.path(name), 1024, std::string("\1\0\0\0\1\0\0\0", 8));  // version, last_page
    patch_file(files_.path(name), 4096 - 10, "SWAPSPACE2");
  }
  LunFiles files_;
};

TEST_F(LunSurveyTest, ABlankDeviceIsFreeAndMayBeImported) {
  files_.make("disk", kLunBytesMin + 4096);
  const SurveyedDevice seen = survey("disk");
  EXPECT_EQ(seen.content, Content::kNothing) << seen.what;
  EXPECT_TRUE(seen.blank);
  EXPECT_EQ(seen.size_bytes, kLunBytesMin + 4096);
  EXPECT_EQ(seen.logical_block_bytes, 512u);
  EXPECT_EQ(seen.path, files_.path("disk"));
  EXPECT_EQ(seen.what, "");
  EXPECT_TRUE(importable("disk"));
}

TEST_F(LunSurveyTest, BytesThatNobodyKnowsAreNotBlank) {
  for (const std::uint64_t at : {std::uint64_t{5000}, kLunBytesMin - 1}) {
    files_.make("disk");
    patch_file(files_.path("disk"), at, "x");
    const SurveyedDevice seen = survey("disk");
    EXPECT_EQ(seen.content, Content::kNothing) << seen.what;
    EXPECT_FALSE(seen.blank);
    std::filesystem::remove(files_.path("disk"));
  }
}

TEST_F(LunSurveyTest, ALunIsNamedWithItsClusterAndKeptAsItIs) {
  const auto lun = files_.import("LUN0");
  const std::string before = read_file_bytes(files_.path("LUN0"), 0, kLabelBytes);
  const SurveyedDevice seen = survey("LUN0");
  ASSERT_EQ(seen.content, Content::kLabel) << seen.what;
  EXPECT_EQ(seen.label->name, "LUN0");
  EXPECT_EQ(seen.label->cluster, kCluster);
  EXPECT_EQ(uuid_to_bytes(seen.label->lun), lun.uuid());
  EXPECT_EQ(read_file_bytes(files_.path("LUN0"), 0, kLabelBytes), before);
}

TEST_F(LunSurveyTest, ALunThatAnInstanceUsesIsStillNamed) {
  files_.import("LUN0");
  const auto device = LunDevice::open(files_.path("LUN0"), Access::kWrite);
  ASSERT_TRUE(hold_ofd_byte(device->fd(), 7));
  EXPECT_EQ(survey("LUN0").content, Content::kLabel);
}

TEST_F(LunSurveyTest, WhatImportRefusesIsNotFree) {
  make_swap("swap");
  EXPECT_EQ(survey("swap").content, Content::kData);
  EXPECT_THAT(survey("swap").what, HasSubstr("swap filesystem"));
  EXPECT_FALSE(importable("swap"));

  files_.make("tiny", kLunBytesMin - 4096);
  EXPECT_EQ(survey("tiny").content, Content::kTooSmall);
  EXPECT_THAT(survey("tiny").what, HasSubstr("too small"));
  EXPECT_FALSE(importable("tiny"));

  files_.make("linked");
  std::filesystem::create_hard_link(files_.path("linked"), files_.path("other"));
  EXPECT_EQ(survey("linked").content, Content::kInUse);
  EXPECT_THAT(survey("linked").what, ::testing::StartsWith("the file has 2 hard links"));
  EXPECT_FALSE(importable("linked"));

  files_.make("locked");
  const auto device = LunDevice::open(files_.path("locked"), Access::kWrite);
  ASSERT_TRUE(hold_ofd_byte(device->fd(), 7));
  EXPECT_EQ(survey("locked").content, Content::kInUse);
  EXPECT_FALSE(importable("locked"));

  files_.import("LUN1");
  patch_file(files_.path("LUN1"), 100, "damage");
  patch_file(files_.path("LUN1"), kLunBytesMin - kLabelBytes + 100, "damage");
  EXPECT_EQ(survey("LUN1").content, Content::kDamagedLabel) << survey("LUN1").what;
  EXPECT_FALSE(importable("LUN1"));
}

TEST_F(LunSurveyTest, ADeviceThatIsGoneIsNoMedium) {
  files_.make("disk");
  const auto node = resolve_lun_node(files_.path("disk"));
  std::filesystem::remove(files_.path("disk"));
  EXPECT_EQ(survey_device(*node).content, Content::kNoMedium);
}

}  // namespace
}  // namespace symnas::cvm
