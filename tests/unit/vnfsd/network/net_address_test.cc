#include "vnfsd/network/net_address.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd {
namespace {

TEST(NetAddress, ParsesAndPrints) {
  EXPECT_EQ(IpAddress::parse("10.0.0.1")->to_string(), "10.0.0.1");
  EXPECT_EQ(IpAddress::parse("fd00::1")->to_string(), "fd00::1");
  for (const char* text : {"", "10.0.0", "10.0.0.256", "10.0.0.1 ", "eth0", "10.0.0.01x"}) {
    EXPECT_FALSE(IpAddress::parse(text)) << text;
  }
}

TEST(NetAddress, CidrHasNetworkAndLast) {
  const Cidr cidr = *Cidr::parse("10.1.2.3/20");
  EXPECT_EQ(cidr.network().to_string(), "10.1.0.0");
  EXPECT_EQ(cidr.last().to_string(), "10.1.15.255");
  EXPECT_TRUE(cidr.contains(*IpAddress::parse("10.1.15.1")));
  EXPECT_FALSE(cidr.contains(*IpAddress::parse("10.1.16.1")));
  EXPECT_FALSE(cidr.contains(*IpAddress::parse("::1")));
  EXPECT_EQ(Cidr::parse("10.1.2.3")->prefix_length, 32u);
  for (const char* text : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x", "::/129"}) {
    EXPECT_FALSE(Cidr::parse(text)) << text;
  }
}

TEST(NetAddress, VipIsAHostAddressWithPrefix) {
  EXPECT_EQ(parse_vip("10.0.0.101/24")->to_string(), "10.0.0.101/24");
  EXPECT_TRUE(parse_vip("10.0.0.0/31"));
  EXPECT_TRUE(parse_vip("10.0.0.7/32"));
  for (const char* text : {"10.0.0.101", "10.0.0.0/24", "10.0.0.255/24", "127.0.0.1/8",
                           "224.0.0.1/24", "0.0.0.1/24", "10.0.0.1/0"}) {
    EXPECT_FALSE(parse_vip(text)) << text;
  }
}

TEST(NetAddress, VipMayBeIpv6) {
  EXPECT_EQ(parse_vip("FD00:0::101/64")->to_string(), "fd00::101/64");
  EXPECT_TRUE(parse_vip("2001:db8::/127"));
  EXPECT_TRUE(parse_vip("2001:db8::/128"));
  for (const char* text : {"fd00::1", "::/64", "::1/128", "ff02::1/64", "fe80::1/64", "fd00::/64",
                           "::ffff:10.0.0.1/120", "fd00::1/0", "fd00::1/129"}) {
    EXPECT_FALSE(parse_vip(text)) << text;
  }
  EXPECT_NE(parse_vip("fe80::1/64").error().message.find("link-local"), std::string::npos);
}

TEST(NetAddress, ClientsAreNetworksHostsOrEverybody) {
  EXPECT_EQ(*normalise_client("*"), "*");
  EXPECT_EQ(*normalise_client("10.0.0.7"), "10.0.0.7/32");
  EXPECT_EQ(*normalise_client("0.0.0.0/0"), "0.0.0.0/0");
  EXPECT_EQ(*normalise_client("FD00::/8"), "fd00::/8");
  EXPECT_EQ(normalise_client("10.0.0.1/24").error().message,
            "address '10.0.0.1/24': host bits are set (did you mean 10.0.0.0/24?)");
  EXPECT_FALSE(normalise_client("host.example"));
  EXPECT_EQ(*normalise_client("fd00::7"), "fd00::7/128");
  EXPECT_FALSE(normalise_client("fd00::/100"));
}

TEST(Vip, TheNextOnesStayInTheirNetwork) {
  const Cidr first = *parse_vip("10.0.0.250/23");
  EXPECT_EQ(vip_after(first, 0)->to_string(), "10.0.0.250/23");
  EXPECT_EQ(vip_after(first, 7)->to_string(), "10.0.1.1/23");
  EXPECT_EQ(vip_after(first, 260)->to_string(), "10.0.1.254/23");
  EXPECT_FALSE(vip_after(first, 261));  // the broadcast address
  EXPECT_FALSE(vip_after(first, 262));
  EXPECT_FALSE(vip_after(first, 0xffffffff));
  const Cidr ipv6 = *parse_vip("fd00::fffe/64");
  EXPECT_EQ(vip_after(ipv6, 3)->to_string(), "fd00::1:1/64");
  EXPECT_FALSE(vip_after(*parse_vip("fd00::fffe/112"), 2));
}

TEST(NetAddress, WhoIsAnAddressOrAName) {
  EXPECT_EQ(*normalise_who("10.0.0.7"), "10.0.0.7/32");
  EXPECT_EQ(*normalise_who("10.0.0.0/24"), "10.0.0.0/24");
  EXPECT_EQ(*normalise_who("fd00::ab"), "fd00::ab/128");
  EXPECT_EQ(*normalise_who("DB1.Example.org"), "db1.example.org");
  EXPECT_EQ(*normalise_who("*.example.org"), "*.example.org");
  EXPECT_EQ(*normalise_who("@Friends"), "@Friends");
  EXPECT_EQ(*normalise_who("*"), "*");
  for (const char* bad : {"", "@", "10.0.0.7/24", "10.0.0", "a b", "a\"b", "a\\b", "a,b",
                          "fd00::xy", "host/24", "@a@b"}) {
    EXPECT_FALSE(normalise_who(bad)) << bad;
  }
  EXPECT_FALSE(normalise_who(std::string(256, 'a')));
}

TEST(NetAddress, WhoHasAKind) {
  EXPECT_EQ(classify_who("10.0.0.7/32").kind, WhoKind::kHost);
  EXPECT_FALSE(classify_who("10.0.0.7/32").is_name);
  EXPECT_EQ(classify_who("db1.example.org").kind, WhoKind::kHost);
  EXPECT_TRUE(classify_who("db1.example.org").is_name);
  EXPECT_EQ(classify_who("10.0.0.0/24").kind, WhoKind::kNetwork);
  EXPECT_EQ(classify_who("10.0.0.0/24").prefix_length, 24u);
  EXPECT_EQ(classify_who("*.example.org").kind, WhoKind::kWildcard);
  EXPECT_EQ(classify_who("@friends").kind, WhoKind::kNetgroup);
  EXPECT_EQ(classify_who("*").kind, WhoKind::kEverybody);
}

}  // namespace
}  // namespace symnas::vnfsd
