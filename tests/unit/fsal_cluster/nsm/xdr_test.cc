#include "fsal_cluster/nsm/xdr.h"

#include <gtest/gtest.h>

#include "common/base/bytes.h"

namespace symnas::nsm {
namespace {

TEST(XdrTest, WritesWordsAndPaddedText) {
  XdrWriter out;
  out.put_u32(1);
  out.put_i32(-2);
  out.put_string("abcde");
  out.put_fixed("xyz");
  EXPECT_EQ(to_hex(out.take()),
            "00000001fffffffe0000000561626364650000007879"
            "7a00");
}

TEST(XdrTest, ReadsWhatWasWritten) {
  XdrWriter out;
  out.put_i32(-7);
  out.put_string("");
  out.put_string("abcd");
  const std::string bytes = out.take();
  XdrReader in(bytes);
  EXPECT_EQ(in.i32(), -7);
  EXPECT_EQ(in.string(4), "");
  EXPECT_EQ(in.string(4), "abcd");
  EXPECT_FALSE(in.failed());
  EXPECT_EQ(in.left(), "");
}

TEST(XdrTest, WhatIsNotThereIsAFailureFromThenOn) {
  XdrWriter out;
  out.put_string("abcde");
  const std::string bytes = out.take();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    XdrReader in(std::string_view(bytes).substr(0, size));
    EXPECT_EQ(in.string(100), "");
    EXPECT_TRUE(in.failed()) << size;
    EXPECT_EQ(in.u32(), 0u);
  }
  XdrReader longer_than_allowed(bytes);
  EXPECT_EQ(longer_than_allowed.string(4), "");
  EXPECT_TRUE(longer_than_allowed.failed());
}

TEST(XdrTest, ALengthBeyondEverythingIsAFailure) {
  XdrReader in(
      std::string_view("\xff\xff\xff\xff"
                       "abcd",
                       8));
  EXPECT_EQ(in.string(SIZE_MAX), "");
  EXPECT_TRUE(in.failed());
}

}  // namespace
}  // namespace symnas::nsm
