#include "vnfsd/instance/connections.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::instance {
namespace {

// A little-endian machine's /proc/net/tcp.
constexpr const char* kTcp =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
    "   0: 00000000:0801 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0\n"
    "   1: 6500000A:0801 C900000A:03E9 01 00000000:00000000 00:00000000 00000000     0\n"
    "   2: 6500000A:0801 C900000A:03EA 06 00000000:00000000 00:00000000 00000000     0\n"
    "   3: 6500000A:4E50 C900000A:03EB 01 00000000:00000000 00:00000000 00000000     0\n"
    "   4: 6500000A:0801 C900000A:XXXX 01\n"
    "   5: 6500000A:0801\n";
constexpr const char* kTcp6 =
    "   1: 0000000000000000FFFF00006500000A:0801 0000000000000000FFFF0000C900000A:03E9 01 0:0\n"
    "   2: B80D0120000000000000000001000000:0801 B80D0120000000000000000002000000:03E9 01 0:0\n";

TEST(ConnectionsTest, EstablishedOnesOfThePort) {
  const auto found = established(kTcp, 2049);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].to_string(), "10.0.0.101:2049 10.0.0.201:1001");
}

TEST(ConnectionsTest, MappedAddressesAreIpv4) {
  const auto found = established(kTcp6, 2049);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].to_string(), "10.0.0.101:2049 10.0.0.201:1001");
  EXPECT_EQ(found[1].to_string(), "[2001:db8::1]:2049 [2001:db8::2]:1001");
}

TEST(ConnectionsTest, WhatIsKnownOfAConnectionStays) {
  std::vector<Connection> all = {
      *Connection::parse("10.0.0.101:2049 10.0.0.201:1001 7"),
      *Connection::parse("10.0.0.101:2049 10.0.0.201:1002"),
  };
  add_missing(all, {*Connection::parse("10.0.0.101:2049 10.0.0.201:1001"),
                    *Connection::parse("10.0.0.102:2049 10.0.0.201:1001")});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].sequence, 7u);
  add_missing(all, {*Connection::parse("10.0.0.101:2049 10.0.0.201:1001 9")});
  EXPECT_EQ(all[0].sequence, 9u);  // a later one
  EXPECT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].local.to_string(), "10.0.0.102:2049");
}

TEST(ConnectionsTest, AcceptedOnesAreCounted) {
  const std::string ip = "Ip: Forwarding DefaultTTL\nIp: 1 64\n";
  EXPECT_EQ(passive_opens(ip + "Tcp: RtoAlgorithm ActiveOpens PassiveOpens AttemptFails\n"
                               "Tcp: 1 17528 5088 12343\nUdp: InDatagrams\nUdp: 3\n"),
            5088u);
  EXPECT_EQ(passive_opens(ip), std::nullopt);
  EXPECT_EQ(passive_opens(ip + "Tcp: RtoAlgorithm\nTcp: 1\n"), std::nullopt);
  EXPECT_EQ(passive_opens(ip + "Tcp: RtoAlgorithm PassiveOpens\nTcp: 1\n"), std::nullopt);
}

TEST(ConnectionsTest, TextAndBack) {
  for (const char* text :
       {"10.0.0.101:2049 10.0.0.201:1001", "10.0.0.101:2049 10.0.0.201:1001 4294967295",
        "[2001:db8::1]:2049 [2001:db8::2]:1001"}) {
    const auto connection = Connection::parse(text);
    ASSERT_TRUE(connection) << connection.error().message;
    EXPECT_EQ(connection->to_string(), text);
  }
  for (const char* text :
       {"", "10.0.0.1:1", "10.0.0.1 10.0.0.2", "10.0.0.1:x 10.0.0.2:1", "10.0.0.1:99999 10.0.0.2:1",
        "10.0.0.1:1 10.0.0.2:1 x", "10.0.0.1:1 10.0.0.2:1 4294967296", "host:1 10.0.0.2:1"}) {
    EXPECT_FALSE(Connection::parse(text)) << text;
  }
}

}  // namespace
}  // namespace symnas::vnfsd::instance
