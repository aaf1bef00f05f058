#include "vnfsd/names/byte_size.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd {
namespace {

TEST(ByteSize, ParsesStrictly) {
  EXPECT_EQ(*parse_byte_size("0"), 0u);
  EXPECT_EQ(*parse_byte_size("512"), 512u);
  EXPECT_EQ(*parse_byte_size("256K"), 262'144u);
  EXPECT_EQ(*parse_byte_size("1M"), 1'048'576u);
  EXPECT_EQ(*parse_byte_size("2G"), 2'147'483'648u);
  EXPECT_EQ(*parse_byte_size("16777215T"), 16'777'215ull << 40);
  for (const char* text : {"", "K", "1k", "1KB", "1 K", " 1K", "-1K", "+1", "1.5M", "0x10", "1KK",
                           "16777216T", "18446744073709551616"}) {
    EXPECT_EQ(parse_byte_size(text).error().code, ErrorCode::kInvalidArgument) << text;
  }
}

TEST(ByteSize, FormatsExactly) {
  EXPECT_EQ(format_byte_size(0), "0");
  EXPECT_EQ(format_byte_size(1000), "1000");
  EXPECT_EQ(format_byte_size(262'144), "256K");
  EXPECT_EQ(format_byte_size(3ull << 30), "3G");
  EXPECT_EQ(format_byte_size(5ull << 50), "5120T");
}

TEST(ByteSize, FormatsApproximately) {
  EXPECT_EQ(approximate_byte_size(1023), "1023");
  EXPECT_EQ(approximate_byte_size(1536), "1.50K");
  EXPECT_EQ(approximate_byte_size(40ull << 20), "40.0M");
  EXPECT_EQ(approximate_byte_size(256ull << 20), "256M");
}

}  // namespace
}  // namespace symnas::vnfsd
