#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "tests/contract/vnfsd/connection.h"
#include "vnfsd/metrics/limits.h"
#include "vnfsd/metrics/page_file.h"
#include "vnfsd/metrics/server.h"

namespace symnas::vnfsd::metrics {
namespace {

constexpr const char* kScrape = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

class MetricsServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/metrics_server_test.XXXXXX";
    directory_ = ::mkdtemp(name);
    ASSERT_TRUE(write_page(directory_, "symnas_up 1\n"));
    auto server =
        Server::listen({{"127.0.0.1", static_cast<std::uint16_t>(port_)}, "", "", ""}, [] {});
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    server_->start(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string ask(const std::string& text, const std::string& from = "127.0.0.1") {
    Connection connection(port_, from);
    connection.say(text);
    return connection.hear();
  }

  const int port_ = free_port();
  std::string directory_;
  std::unique_ptr<Server> server_;
};

TEST_F(MetricsServerTest, AnswersThePageAndNothingElse) {
  EXPECT_NE(ask(kScrape).find("symnas_up 1"), std::string::npos);
  for (const char* other : {"GET / ", "POST /metrics ", "DELETE /metrics ", "PUT /metrics "}) {
    const std::string heard = ask(std::string(other) + "HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_NE(heard.find(" 404 "), std::string::npos) << other << heard;
  }
}

// They come again as soon as they are hung up on.
TEST_F(MetricsServerTest, EightSlowClientsDoNotStopScrapes) {
  std::vector<std::jthread> slow;
  for (int i = 0; i < 8; ++i) {
    slow.emplace_back([this](const std::stop_token& end) {
      while (!end.stop_requested()) {
        Connection connection(port_, "127.0.0.2");
        for (const char c : std::string("GET /metrics")) {
          if (end.stop_requested() || !connection.say(std::string(1, c))) break;
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2 * kRequestMs);
  while (std::chrono::steady_clock::now() < end) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_NE(ask(kScrape).find("symnas_up 1"), std::string::npos);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

TEST_F(MetricsServerTest, OneAddressHasAPartOfTheThreads) {
  std::vector<std::unique_ptr<Connection>> idle;
  for (std::size_t i = 0; i < kAddressConnectionsMax; ++i)
    idle.push_back(std::make_unique<Connection>(port_, "127.0.0.2"));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  Connection late(port_, "127.0.0.2");
  EXPECT_TRUE(late.hangs_up_within(1'000));
  EXPECT_NE(ask(kScrape, "127.0.0.3").find("symnas_up 1"), std::string::npos);
}

}  // namespace
}  // namespace symnas::vnfsd::metrics
