#include "vnfsd/ctl/clean_client.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

constexpr const char* kEscape = "\x1b[2J";
constexpr const char* kShown = "\\x1b[2J";

// Whatever is asked, its answer would clear the screen.
class HostileClient final : public api::ApiClient {
 public:
  HostileClient() : ApiClient({""}) {}
  Result<json> request(const std::string&, const std::string& path, const json&) override {
    if (path == "/bad") return fail(ErrorCode::kBusy, kEscape);
    return json{{"name", kEscape}};
  }
  Status follow(const std::string&, const api::TakeServerEvent& take) override {
    api::ServerEvent event;
    event.data = json{{"text", kEscape}}.dump();  // "\u001b[2J"
    if (take(event)) return {};
    return fail(ErrorCode::kShutdown, kEscape);
  }
  Result<std::string> text(const std::string&) override { return std::string(kEscape); }
};

class CleanClientTest : public ::testing::Test {
 protected:
  HostileClient hostile;
  CleanClient clean{hostile, Charset::kUtf8};
};

TEST_F(CleanClientTest, AnswersAndErrorsAreText) {
  EXPECT_EQ((*clean.request("GET", "/good", {}))["name"], kShown);
  EXPECT_EQ(clean.request("GET", "/bad", {}).error().message, kShown);
  EXPECT_EQ(clean.request("GET", "/bad", {}).error().code, ErrorCode::kBusy);
  EXPECT_EQ(*clean.text("/metrics"), kShown);
}

TEST_F(CleanClientTest, EventsOfAStreamAreText) {
  std::string seen;
  EXPECT_TRUE(clean.follow("/stream", [&](const api::ServerEvent& event) {
    seen = json::parse(event.data)["text"];
    return true;
  }));
  EXPECT_EQ(seen, kShown);
  const Status ended = clean.follow("/stream", [](const api::ServerEvent&) { return false; });
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, kShown);
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
