#include "ha/detection/corosync/membership.h"

#include <gtest/gtest.h>

namespace symnas::ha {
namespace {

constexpr const char* kLine =
    R"({"nodes":[{"addresses":["10.0.0.1","fd00::1"],"id":1,"member":true,"name":"c1n1"},)"
    R"({"addresses":["beta"],"id":2,"member":false,"name":""}],"quorate":true})";
const CorosyncMembership kSaid{
    true, {{1, "c1n1", {"10.0.0.1", "fd00::1"}, true}, {2, "", {"beta"}, false}}};

TEST(CorosyncMembership, TheLineIsAsDescribed) {
  EXPECT_EQ(render_membership(kSaid), kLine);
  const auto parsed = parse_membership(kLine);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, kSaid);
}

TEST(CorosyncMembership, AnIpv6AddressHasOneText) {
  const auto parsed = parse_membership(
      R"({"nodes":[{"addresses":["FD00:0::1"],"id":1,"member":true,"name":""}],"quorate":true})");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->nodes[0].addresses[0], "fd00::1");
}

TEST(CorosyncMembership, WhatIsNoTextIsReplaced) {
  CorosyncMembership odd = kSaid;
  odd.nodes[0].name = "\xff\n";
  const std::string line = render_membership(odd);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_TRUE(parse_membership(line));
}

TEST(CorosyncMembership, AnythingElseIsRefused) {
  const std::string node = R"({"addresses":[],"id":1,"member":true,"name":""})";
  std::string many = node;
  for (std::size_t i = 0; i < kCorosyncNodesMax; ++i) many += "," + node;
  const std::vector<std::string> wrong = {"",
                                          "[]",
                                          "{}",
                                          R"({"nodes":{},"quorate":true})",
                                          R"({"nodes":[],"quorate":"yes"})",
                                          R"({"nodes":[{"id":-1}],"quorate":true})",
                                          R"({"nodes":[)" + many + R"(],"quorate":true})",
                                          std::string(kCorosyncLineBytesMax + 1, ' ') + kLine};
  for (const std::string& line : wrong) {
    const auto parsed = parse_membership(line);
    ASSERT_FALSE(parsed) << line;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace symnas::ha
