#include "cvm/label_io.h"

#include <cstring>

#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

constexpr std::uint64_t kSecond = kLunBytesMin - kLabelBytes;

class LabelIo : public ::testing::Test {
 protected:
  LunDevice device(Access access = Access::kWrite) {
    auto opened = LunDevice::open(path_, access);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  LunLabel label(std::uint64_t generation = 1, std::uint8_t lun = 0x11) {
    return {.generation = generation,
            .cluster = kCluster,
            .lun = test_uuid(lun),
            .volume = {},
            .size_bytes = kLunBytesMin,
            .logical_block_bytes = 512,
            .name = "LUN0"};
  }
  std::string encoded(const LunLabel& value) {
    const LabelBlock block = encode_label(value);
    return {reinterpret_cast<const char*>(block.data()), block.size()};
  }

  LunFiles files_;
  std::string path_ = files_.make("lun");
};

TEST_F(LabelIo, WritesBothCopies) {
  ASSERT_TRUE(write_label(device(), label()));
  EXPECT_EQ(read_file_bytes(path_, 0, kLabelBytes), encoded(label()));
  EXPECT_EQ(read_file_bytes(path_, kSecond, kLabelBytes), encoded(label()));
  const auto copies = read_label(device(Access::kRead));
  ASSERT_TRUE(copies) << copies.error().message;
  EXPECT_EQ(copies->label, label());
  EXPECT_FALSE(copies->first_needs_repair || copies->second_needs_repair);
}

TEST_F(LabelIo, NoLabelIsNotFound) {
  EXPECT_EQ(read_label(device()).error().code, ErrorCode::kNotFound);
}

TEST_F(LabelIo, OneDamagedCopyIsReadFromTheOtherAndRepaired) {
  for (const std::uint64_t damaged : {std::uint64_t{0}, kSecond}) {
    // Overwritten in the middle (checksum), and from its beginning (no magic).
    for (const std::uint64_t within : {100, 0}) {
      ASSERT_TRUE(write_label(device(), label()));
      patch_file(path_, damaged + within, "scribble");
      const auto copies = read_label(device());
      ASSERT_TRUE(copies) << copies.error().message;
      EXPECT_EQ(copies->label, label());
      EXPECT_EQ(copies->first_needs_repair, damaged == 0);
      EXPECT_EQ(copies->second_needs_repair, damaged != 0);
      ASSERT_TRUE(repair_label(device()));
      EXPECT_EQ(read_file_bytes(path_, damaged, kLabelBytes), encoded(label()));
    }
  }
}

TEST_F(LabelIo, BothDamagedIsCorruptNotEmpty) {
  ASSERT_TRUE(write_label(device(), label()));
  patch_file(path_, 100, "scribble");
  patch_file(path_, kSecond, "scribble");
  EXPECT_EQ(read_label(device()).error().code, ErrorCode::kCorrupt);
}

// A change writes the second copy first: after a crash between the two writes, the copies differ
// like this.
TEST_F(LabelIo, NewerCopyCountsAndRepairMakesThemEqual) {
  for (const std::uint64_t newer : {std::uint64_t{0}, kSecond}) {
    ASSERT_TRUE(write_label(device(), label(3)));
    patch_file(path_, newer, encoded(label(4)));
    EXPECT_EQ(read_label(device())->label.generation, 4u);
    ASSERT_TRUE(repair_label(device()));
    EXPECT_EQ(read_file_bytes(path_, kSecond - newer, kLabelBytes), encoded(label(4)));
  }
}

TEST_F(LabelIo, CopiesOfTwoLunsAreCorrupt) {
  ASSERT_TRUE(write_label(device(), label()));
  patch_file(path_, kSecond, encoded(label(9, 0x12)));
  const auto copies = read_label(device());
  ASSERT_FALSE(copies);
  EXPECT_EQ(copies.error().code, ErrorCode::kCorrupt);
}

TEST_F(LabelIo, GrownDeviceKeepsItsLabel) {
  ASSERT_TRUE(write_label(device(), label()));
  std::filesystem::resize_file(path_, 2 * kLunBytesMin);
  const auto copies = read_label(device());
  ASSERT_TRUE(copies) << copies.error().message;
  EXPECT_EQ(copies->label.size_bytes, kLunBytesMin);
  EXPECT_FALSE(copies->second_needs_repair);
}

TEST_F(LabelIo, DeviceSmallerThanItsLabelIsCorrupt) {
  std::filesystem::resize_file(path_, 2 * kLunBytesMin);
  LunLabel large = label();
  large.size_bytes = 2 * kLunBytesMin;
  ASSERT_TRUE(write_label(device(), large));
  std::filesystem::resize_file(path_, kLunBytesMin);
  EXPECT_EQ(read_label(device()).error().code, ErrorCode::kCorrupt);
}

TEST_F(LabelIo, NewerFormatIsNotTakenForDamage) {
  std::string future = encoded(label());
  future[16] = 9;
  std::fill_n(future.begin() + 20, 4, '\0');
  std::array<std::byte, 4> crc;
  store_le32(crc, 0, crc32c(future));
  std::memcpy(future.data() + 20, crc.data(), 4);
  ASSERT_TRUE(write_label(device(), label()));
  patch_file(path_, 0, future);
  EXPECT_EQ(read_label(device()).error().code, ErrorCode::kNotSupported);
}

TEST_F(LabelIo, WipeLeavesNothing) {
  ASSERT_TRUE(write_label(device(), label()));
  ASSERT_TRUE(wipe_label(device(), label()));
  EXPECT_EQ(read_label(device()).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace symnas::cvm
