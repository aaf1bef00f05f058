#include "vnfsd/config/remote.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd {
namespace {

TEST(Remote, TheFileHasTheOptionsNames) {
  const auto config = parse_remote("url = \"https://c1n1\"\ntoken_file = \"/t\"\n", "remote.toml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->url, "https://c1n1");
  EXPECT_EQ(config->token_file, "/t");
  EXPECT_EQ(config->cert, "");
  const auto bad = parse_remote("token = \"secret\"\n", "remote.toml");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message, "remote.toml: token: is not a known setting");
  EXPECT_FALSE(parse_remote("url = 1\n", "remote.toml"));
  EXPECT_FALSE(parse_remote("url\n", "remote.toml"));
}

TEST(Remote, Urls) {
  const auto host = [](const std::string& url) {
    const auto parsed = parse_remote_url(url);
    return parsed ? parsed->host + " " + std::to_string(parsed->port) : "refused";
  };
  EXPECT_EQ(host("https://c1n1"), "c1n1 20492");
  EXPECT_EQ(host("https://c1n1:443/"), "c1n1 443");
  EXPECT_EQ(host("https://10.99.0.1:8443"), "10.99.0.1 8443");
  EXPECT_EQ(host("https://[fd00::1]:8443"), "fd00::1 8443");
  EXPECT_EQ(host("https://[fd00::1]"), "fd00::1 20492");
  for (const char* bad : {"", "c1n1", "http://c1n1", "https://", "https://:443", "https://c1n1:x",
                          "https://c1n1:70000", "https://u@c1n1", "https://c1n1/v1", "https://c?x"})
    EXPECT_EQ(host(bad), "refused") << bad;
}

}  // namespace
}  // namespace symnas::vnfsd
