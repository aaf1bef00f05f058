#include "fsal_cluster/plugin/send_queues.h"
#include "fsal_cluster/plugin/limits.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "common/base/unique_fd.h"

namespace symnas::plugin {
namespace {

class SendQueuesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // A dual-stack socket, like the one on which ganesha listens.
    listener = UniqueFd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
    ASSERT_EQ(::listen(listener.get(), 1), 0);
    socklen_t size = sizeof any;
    ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&any), &size), 0);
    port = ntohs(any.sin6_port);
    client = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = any.sin6_port;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    server = UniqueFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    ASSERT_TRUE(server.valid());
  }
  UniqueFd listener;
  UniqueFd client;
  UniqueFd server;
  std::uint16_t port = 0;
};

TEST_F(SendQueuesTest, NamesTheConnectionsOfThePort) {
  const auto sockets = client_sockets(port);
  ASSERT_EQ(sockets.size(), 1u);
  EXPECT_EQ(sockets[0].fd, server.get());
  const std::string local = "127.0.0.1:" + std::to_string(port) + " 127.0.0.1:";
  EXPECT_EQ(sockets[0].ends.substr(0, local.size()), local);
  EXPECT_TRUE(client_sockets(static_cast<std::uint16_t>(port ^ 1)).empty());
}

TEST_F(SendQueuesTest, CountsUntilEverythingIsAcknowledged) {
  const auto sockets = client_sockets(port);
  EXPECT_EQ(unacknowledged_bytes(sockets), 0u);
  // More than the client's window takes: a part stays unacknowledged.
  const std::string much(16 << 20, 'x');
  const ssize_t sent = ::send(server.get(), much.data(), much.size(), MSG_DONTWAIT);
  ASSERT_GT(sent, 0);
  EXPECT_GT(unacknowledged_bytes(sockets), 0u);
  std::string buffer(much.size(), 0);
  for (ssize_t left = sent; left > 0;) {
    const ssize_t size = ::read(client.get(), buffer.data(), buffer.size());
    ASSERT_GT(size, 0);
    left -= size;
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  do {
    ask_for_acknowledgements(sockets);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (unacknowledged_bytes(sockets) > 0 && std::chrono::steady_clock::now() < deadline);
  EXPECT_EQ(unacknowledged_bytes(sockets), 0u);
  // The server's side of the connection has not noticed.
  ASSERT_EQ(::send(server.get(), "y", 1, 0), 1);
  char byte = 0;
  ASSERT_EQ(::read(client.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
}

TEST_F(SendQueuesTest, NamesAFewOfThoseThatHaveNotAcknowledged) {
  auto sockets = client_sockets(port);
  EXPECT_EQ(describe_outstanding(sockets), "");
  const std::string much(16 << 20, 'x');  // more than the client's window takes
  ASSERT_GT(::send(server.get(), much.data(), much.size(), MSG_DONTWAIT), 0);
  EXPECT_TRUE(describe_outstanding(sockets).starts_with(sockets[0].ends + ": "));
  sockets.resize(kOutstandingNamed + 3, sockets[0]);
  EXPECT_TRUE(describe_outstanding(sockets).ends_with("; and 3 more"));
}

TEST_F(SendQueuesTest, TellsWhereAConnectionStands) {
  const auto next = [&]() -> std::uint32_t {
    const std::string text = describe_connections(client_sockets(port)).at(0);
    const std::string ends = client_sockets(port).at(0).ends;
    if (text == ends) return 0;
    return static_cast<std::uint32_t>(std::stoul(text.substr(ends.size())));
  };
  const std::uint32_t before = next();
  if (before == 0) GTEST_SKIP() << "the kernel does not tell it (CAP_NET_ADMIN?)";
  ASSERT_EQ(::send(server.get(), "abc", 3, 0), 3);
  EXPECT_EQ(next(), before + 3);
  char bytes[4];
  EXPECT_EQ(::read(client.get(), bytes, sizeof bytes), 3);
  ASSERT_EQ(::send(server.get(), "d", 1, 0), 1);
  EXPECT_EQ(::read(client.get(), bytes, sizeof bytes), 1);
}

TEST_F(SendQueuesTest, WhatIsClosedCountsAsNothing) {
  const auto sockets = client_sockets(port);
  server.reset();
  EXPECT_EQ(unacknowledged_bytes(sockets), 0u);
  ask_for_acknowledgements(sockets);
}

}  // namespace
}  // namespace symnas::plugin
