#include "ha/reservation/key.h"

#include <gtest/gtest.h>

namespace symnas::ha {
namespace {

// Keys stay on LUNs while the version of symnas changes.
TEST(ReservationKey, IsTheSameInEveryVersion) {
  EXPECT_EQ(render_key(key_of("c1n1/4f1e2d3c-0000-4000-8000-000000000001")), "0x53b58a1a79cfc1d0");
}

TEST(ReservationKey, TellsHeadsAndBootsApart) {
  EXPECT_NE(key_of("c1n1/b"), key_of("c1n2/b"));
  EXPECT_NE(key_of("c1n1/b"), key_of("c1n1/c"));
  EXPECT_EQ(key_of("c1n1/b").value() >> 56, 0x53u);
}

TEST(ReservationKey, IsParsedAsKeyOrIncarnation) {
  EXPECT_EQ(parse_key("0x5300000000000001").value(), ReservationKey(0x5300000000000001));
  EXPECT_EQ(parse_key("0x1").value(), ReservationKey(1));
  EXPECT_EQ(parse_key("c1n1/boot").value(), key_of("c1n1/boot"));
  EXPECT_EQ(parse_key(render_key(key_of("a/b"))).value(), key_of("a/b"));
}

TEST(ReservationKey, RefusesWhatIsNone) {
  for (const char* text : {"", "0x", "0x0", "0x0000000000000000", "0x12345678901234567", "0x12g",
                           "0x-1", "c1n1", "/boot", "c1n1/", "12"}) {
    const auto key = parse_key(text);
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().code, ErrorCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace symnas::ha
