#include "vnfsd/http/http_server.h"

#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "tests/contract/vnfsd/connection.h"

namespace symnas::vnfsd {
namespace {

constexpr Deadlines kShort = {500, 500, 500, 1 << 16};

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() {
    parts_.connect = [](int fd) { return plain_connection(fd, kShort); };
    parts_.answer = [](const HttpRequest& request) { return HttpReply{200, request.body}; };
    parts_.refuse = [](int status) { return HttpReply{status, "not understood"}; };
    parts_.threads = 2;
    parts_.waiting_max = 4;
    parts_.body_bytes_max = 100;
  }
  void start() {
    auto server = HttpServer::on_address("127.0.0.1", port_, parts_);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    server_->start();
  }
  std::string ask(const std::string& text) {
    Connection connection(port_);
    connection.say(text);
    return connection.hear();
  }

  const int port_ = free_port();
  HttpServerParts parts_;
  std::unique_ptr<HttpServer> server_;
};

constexpr const char* kGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

TEST_F(HttpServerTest, AStreamWhoseProviderThrowsEndsAlone) {
  parts_.answer = [](const HttpRequest& request) {
    HttpReply reply{200, ""};
    if (request.path != "/broken") return HttpReply{200, "whole"};
    reply.stream = [](const auto& send) {
      send("the beginning");
      throw std::runtime_error("no such head");
    };
    return reply;
  };
  start();
  const std::string heard = ask("GET /broken HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_NE(heard.find("the beginning"), std::string::npos) << heard;
  EXPECT_EQ(heard.find("\r\n0\r\n\r\n"), std::string::npos) << "it passes for a whole one";
  EXPECT_NE(ask(kGet).find("whole"), std::string::npos) << "the server is gone";
}

TEST_F(HttpServerTest, ByteByByteNobodyGetsMoreTime) {
  start();
  Connection slow(port_);
  std::thread drips([&] {
    for (int i = 0; i < 40 && slow.say("G"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  });
  EXPECT_TRUE(slow.hangs_up_within(1'500));
  drips.join();
}

TEST_F(HttpServerTest, WhatNobodyHasTimeForIsHungUpOn) {
  start();
  std::vector<std::unique_ptr<Connection>> idle;
  for (std::size_t i = 0; i < parts_.threads + parts_.waiting_max; ++i)
    idle.push_back(std::make_unique<Connection>(port_));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  Connection late(port_);
  EXPECT_TRUE(late.hangs_up_within(300));
  // In time those before it are, too.
  for (const auto& one : idle) EXPECT_TRUE(one->hangs_up_within(5'000));
  EXPECT_NE(ask(kGet).find(" 200 "), std::string::npos);
}

TEST_F(HttpServerTest, BodiesAreBoundedAndGarbageIsTold) {
  start();
  EXPECT_NE(ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody").find("body"),
            std::string::npos);
  const std::string large = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n";
  EXPECT_NE(ask(large + std::string(1000, 'x')).find(" 413 "), std::string::npos);
  EXPECT_NE(ask("nonsense\r\n\r\n").find("not understood"), std::string::npos);
}

TEST_F(HttpServerTest, APortIsNotShared) {
  start();
  EXPECT_FALSE(HttpServer::on_address("127.0.0.1", port_, parts_));
}

TEST_F(HttpServerTest, OneThatNeverBeganLetsGoOfItsPort) {
  { ASSERT_TRUE(HttpServer::on_address("127.0.0.1", port_, parts_)); }
  start();
  EXPECT_NE(ask(kGet).find(" 200 "), std::string::npos);
}

}  // namespace
}  // namespace symnas::vnfsd
