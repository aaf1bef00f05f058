// Canary: what a VIP shows of the head behind it.
#include "vnfsd/probe/canary.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "common/base/unique_fd.h"

namespace symnas::vnfsd::probe {
namespace {

constexpr int kHeaderBytes = 8;  // record mark and xid

// Of this process, so that others may test beside it.
IpAddress own_vip() {
  const int pid = ::getpid();
  return *IpAddress::parse(fmt::format("127.{}.{}.1", 1 + (pid >> 8) % 254, pid % 256));
}

// What listens on the VIP's port of NFS: nobody reads what comes unless the test does. Invalid: it
// cannot. To wait for a connection takes no longer than 5 s.
UniqueFd listen_at(const IpAddress& vip) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  const timeval patience{5, 0};
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(2049);
  to.sin_addr.s_addr = ::inet_addr(vip.to_string().c_str());
  const bool listens = ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 &&
                       ::listen(fd.get(), 4) == 0;
  return listens ? std::move(fd) : UniqueFd();
}

TEST(Canary, NobodyThereIsNoAnswer) {
  EXPECT_EQ(any_sign({}, 10), Sign::kNone);
  // Refused on loopback: port 2049 is ganesha's in the namespaces of VNFSs only.
  EXPECT_EQ(any_sign({*IpAddress::parse("127.0.0.1"), *IpAddress::parse("::1")}, 50), Sign::kNone);
}

TEST(Canary, AKernelThatTakesTheConnectionIsASign) {
  const UniqueFd listener = listen_at(own_vip());
  ASSERT_TRUE(listener.valid());
  EXPECT_EQ(any_sign({*IpAddress::parse("127.0.0.1"), own_vip()}, 50), Sign::kAccepted);
  EXPECT_EQ(any_sign({own_vip()}, 0), Sign::kAccepted) << "what has come counts";
}

TEST(Canary, AnAnswerIsTheBestSign) {
  const UniqueFd listener = listen_at(own_vip());
  ASSERT_TRUE(listener.valid());
  std::thread server([&] {
    const UniqueFd peer(::accept(listener.get(), nullptr, nullptr));
    std::string call(kHeaderBytes, 0);
    ASSERT_EQ(::recv(peer.get(), call.data(), call.size(), MSG_WAITALL), kHeaderBytes);
    ASSERT_EQ(::send(peer.get(), call.data(), call.size(), MSG_NOSIGNAL), kHeaderBytes);
  });
  EXPECT_EQ(any_sign({own_vip()}, 5'000), Sign::kAnswered);
  server.join();
}

TEST(Canary, OnlyVipsOfOwnNetworksAreInReach) {
  const auto cidr = [](const char* text) { return *Cidr::parse(text); };
  const auto reached = in_reach({cidr("127.1.2.3/8"), cidr("192.0.2.1/32")});
  ASSERT_EQ(reached.size(), 1u);
  EXPECT_EQ(reached[0].to_string(), "127.1.2.3");
  EXPECT_TRUE(in_reach({}).empty());
}

}  // namespace
}  // namespace symnas::vnfsd::probe
