#include "vnfsd/config/api_config.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd {
namespace {

TEST(ApiConfig, IsOffUnlessItIsSwitchedOn) {
  const auto config = parse_api_config("[head]\nname = \"c1n1\"\n", "t.toml", "/run/symnas");
  ASSERT_TRUE(config);
  EXPECT_FALSE(config->enabled);
  EXPECT_EQ(config->socket, "/run/symnas-api/api.sock");
  EXPECT_EQ(config->port, 20492);
  // Versions before it refuse a section that they do not know.
  EXPECT_EQ(render_api_config(*config), "");
}

TEST(ApiConfig, RenderedReadsBackEqual) {
  const auto config = parse_api_config(
      "[api]\nenabled = true\nlisten = [\"10.0.0.1\", \"fd00::1\"]\nport = 443\nuser = \"nobody\"\n"
      "requests_per_s = 5\n",
      "t.toml", "/r");
  ASSERT_TRUE(config) << config.error().message;
  const auto again = parse_api_config(render_api_config(*config), "again", "/other");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(render_api_config(*again), render_api_config(*config));
  EXPECT_EQ(again->socket, "/r-api/api.sock");
  EXPECT_EQ(again->listen.size(), 2u);
  EXPECT_EQ(again->requests_per_s, 5);
}

TEST(ApiConfig, BadSettingsAreNamed) {
  for (const char* line :
       {"listen = [\"c1n1\"]", "port = 0", "port = 65536", "user = \"\"", "socket = \"api.sock\"",
        "requests_per_s = 0", "connections_max = 0", "enabeld = true", "enabled = 1"}) {
    const auto config = parse_api_config(std::string("[api]\n") + line + "\n", "t.toml", "/r");
    ASSERT_FALSE(config) << line;
    const std::string key = std::string(line).substr(0, std::string(line).find(' '));
    EXPECT_NE(config.error().message.find("[api] " + key), std::string::npos)
        << config.error().message;
  }
}

}  // namespace
}  // namespace symnas::vnfsd
