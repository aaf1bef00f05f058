#include "vnfsd/address/holders.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::address {
namespace {

const MacAddress kOurs{0x02, 0, 0, 0, 0, 0x0a};
const MacAddress kTheirs{0x52, 0x54, 0, 0x12, 0x34, 0x56};

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    out.push_back("0123456789abcdef"[static_cast<unsigned char>(c) >> 4]);
    out.push_back("0123456789abcdef"[static_cast<unsigned char>(c) & 0xf]);
  }
  return out;
}

std::string unhex(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    out.push_back(static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  }
  return out;
}

TEST(Holders, ProbeIsInTheNameOfNobody) {
  EXPECT_EQ(hex(question_frame(kOurs, *IpAddress::parse("10.0.0.101"))),
            "ffffffffffff"
            "02000000000a"
            "0806"
            "0001080006040001"
            "02000000000a"
            "00000000"
            "000000000000"
            "0a000065");
}

TEST(Holders, SolicitationGoesToTheGroupOfTheAddress) {
  EXPECT_EQ(hex(question_frame(kOurs, *IpAddress::parse("2001:db8::1:203"))),
            "3333ff010203"
            "02000000000a"
            "86dd"
            "6000000000183aff"
            "00000000000000000000000000000000"
            "ff0200000000000000000001ff010203"
            "870048e700000000"
            "20010db8000000000000000000010203");
}

const char* const kReply =
    "02000000000a525400123456080600010800060400025254001234560a00006502000000000a00000000";

TEST(Holders, ReplyNamesWhoHasIt) {
  const auto holder = holder_in(unhex(kReply));
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->address.to_string(), "10.0.0.101");
  EXPECT_EQ(holder->mac, kTheirs);
  EXPECT_EQ(mac_text(holder->mac), "52:54:00:12:34:56");
}

TEST(Holders, WhoAsksUnderTheAddressHasIt) {
  std::string request = unhex(kReply);
  request[21] = 1;
  EXPECT_TRUE(holder_in(request));
}

TEST(Holders, AProbeIsNoAnswer) {
  EXPECT_FALSE(holder_in(question_frame(kTheirs, *IpAddress::parse("10.0.0.101"))));
  EXPECT_FALSE(holder_in(question_frame(kTheirs, *IpAddress::parse("2001:db8::1"))));
}

TEST(Holders, AdvertisementNamesItsTarget) {
  const std::string frame = unhex(
      "333300000001525400123456"
      "86dd6000000000203aff"
      "20010db8000000000000000000000001"
      "ff020000000000000000000000000001"
      "8800000020000000"
      "20010db8000000000000000000000001"
      "0201525400123456");
  const auto holder = holder_in(frame);
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->address.to_string(), "2001:db8::1");
  EXPECT_EQ(holder->mac, kTheirs);
  std::string forwarded = frame;
  forwarded[21] = 64;  // it came through a router: no neighbour
  EXPECT_FALSE(holder_in(forwarded));
}

TEST(Holders, NothingOfAShortFrameIsRead) {
  const std::string reply = unhex(kReply);
  for (std::size_t size = 0; size < reply.size(); ++size) {
    EXPECT_FALSE(holder_in(std::string_view(reply).substr(0, size))) << size;
  }
}

TEST(Holders, MissingDeviceIsNamed) {
  const auto asked = who_has("nosuchdevice0", {*IpAddress::parse("10.0.0.1")}, {0, 1, nullptr});
  ASSERT_FALSE(asked);
  EXPECT_NE(asked.error().message.find("nosuchdevice0"), std::string::npos);
}

}  // namespace
}  // namespace symnas::vnfsd::address
