#include "vnfsd/address/segment.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::address {
namespace {

std::string hex(const std::string& bytes) {
  std::string out;
  for (const unsigned char c : bytes) {
    out += "0123456789abcdef"[c >> 4];
    out += "0123456789abcdef"[c & 15];
  }
  return out;
}

TcpEnd end(const char* address, std::uint16_t port) { return {*IpAddress::parse(address), port}; }

// Of all 16-bit words: 0xffff when the checksum within is right (RFC 1071).
std::uint32_t sum_of(const std::string& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    sum += static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << 8 |
           static_cast<unsigned char>(bytes[i + 1]);
  }
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

TEST(Segment, ResetOverIpv4) {
  const std::string packet =
      tickle_packet(end("10.0.0.101", 2049), end("10.0.0.7", 1000), 0x01020304u);
  EXPECT_EQ(hex(packet.substr(0, 10)), "45000028000000004006");
  EXPECT_EQ(hex(packet.substr(12, 8)), "0a0000650a000007");
  EXPECT_EQ(hex(packet.substr(20, 16)), "080103e8010203040000000050040000");
  EXPECT_EQ(sum_of(packet.substr(0, 20)), 0xffffu);
  const std::string pseudo = packet.substr(12, 8) + std::string("\0\x06\0\x14", 4);
  EXPECT_EQ(sum_of(pseudo + packet.substr(20)), 0xffffu);
}

TEST(Segment, AcknowledgementOverIpv6) {
  const std::string packet =
      tickle_packet(end("fd00::101", 2049), end("2001:db8::7", 1000), std::nullopt);
  EXPECT_EQ(hex(packet.substr(0, 8)), "6000000000140640");
  EXPECT_EQ(hex(packet.substr(8, 32)),
            "fd000000000000000000000000000101"
            "20010db8000000000000000000000007");
  EXPECT_EQ(hex(packet.substr(40, 16)), "080103e8000000000000000050100400");
  // RFC 8200, 8.1: addresses, length, next header.
  const std::string pseudo = packet.substr(8, 32) + std::string("\0\0\0\x14\0\0\0\x06", 8);
  EXPECT_EQ(sum_of(pseudo + packet.substr(40)), 0xffffu);
}

}  // namespace
}  // namespace symnas::vnfsd::address
