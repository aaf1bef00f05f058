#include "cvm/label.h"

#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

LunLabel fixed_label() {
  return {.generation = 7,
          .cluster = test_uuid(0xc1),
          .lun = test_uuid(0x11),
          .volume = test_uuid(0x22),
          .size_bytes = std::uint64_t{96} << 20,
          .logical_block_bytes = 4096,
          .name = "LUN0"};
}

std::string_view text(const LabelBlock& block) {
  return {reinterpret_cast<const char*>(block.data()), block.size()};
}

// docs/formats/lun_label.md shows these bytes.
TEST(Label, EncodingIsFixed) {
  const LabelBlock block = encode_label(fixed_label());
  EXPECT_EQ(to_hex(text(block).substr(0, 104)),
            "73796d6e61732e6c756e2e6c6162656c"
            "01000000"
            "6e8f5727"
            "0700000000000000"
            "c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1"
            "11111111111111111111111111111111"
            "22222222222222222222222222222222"
            "0000000600000000"
            "00100000"
            "04000000"
            "4c554e3000000000");
  EXPECT_EQ(text(block).substr(104).find_first_not_of('\0'), std::string_view::npos);
}

TEST(Label, DecodesWhatItEncodes) {
  const auto decoded = decode_label(encode_label(fixed_label()));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, fixed_label());
}

TEST(Label, EveryFlippedBitIsNoticed) {
  const LabelBlock good = encode_label(fixed_label());
  for (std::size_t at = 0; at < good.size(); at += at < 160 ? 1 : 61) {
    LabelBlock bad = good;
    bad[at] ^= std::byte{0x10};
    const auto decoded = decode_label(bad);
    ASSERT_FALSE(decoded) << "byte " << at;
    EXPECT_EQ(decoded.error().code, at < 16 ? ErrorCode::kNotFound : ErrorCode::kCorrupt);
  }
}

void seal(LabelBlock& block) {
  store_le32(block, 20, 0);
  store_le32(block, 20, crc32c(block));
}

TEST(Label, NewerFormatIsRefusedAsSuch) {
  LabelBlock block = encode_label(fixed_label());
  store_le32(block, 16, 2);
  seal(block);
  EXPECT_EQ(decode_label(block).error().code, ErrorCode::kNotSupported);
}

TEST(Label, ImpossibleFieldsAreRefusedInSpiteOfTheChecksum) {
  for (const auto& [offset, value] : {std::pair{88, 1024u}, {92, 0u}, {92, 64u}, {80, 4096u}}) {
    LabelBlock block = encode_label(fixed_label());
    store_le32(block, static_cast<std::size_t>(offset), value);
    seal(block);
    EXPECT_EQ(decode_label(block).error().code, ErrorCode::kCorrupt) << offset << "=" << value;
  }
}

TEST(Label, EmptyBlockIsNoLabel) {
  EXPECT_EQ(decode_label(LabelBlock{}).error().code, ErrorCode::kNotFound);
}

TEST(Label, SecondCopyIsTheLastWholeBlock) {
  EXPECT_EQ(second_label_offset(kLunBytesMin), kLunBytesMin - 4096);
  EXPECT_EQ(second_label_offset(kLunBytesMin + 4095), kLunBytesMin - 4096);
}

TEST(Label, NamesAreChecked) {
  EXPECT_TRUE(check_name("lun", "LUN0"));
  EXPECT_TRUE(check_name("lun", "a.b-c_d"));
  EXPECT_TRUE(check_name("lun", std::string(63, 'x')));
  for (const char* bad : {"", "a/b", "-a", ".a", "a b", "a\n", "\xc3\xa4"})
    EXPECT_EQ(check_name("lun", bad).error().code, ErrorCode::kInvalidArgument) << bad;
  EXPECT_FALSE(check_name("lun", std::string(64, 'x')));
}

}  // namespace
}  // namespace symnas::cvm
