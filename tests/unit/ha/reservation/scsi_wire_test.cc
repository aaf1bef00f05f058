// Answers of PERSISTENT RESERVE IN and of VPD page 83h: whole, cut off, absurd.
#include "ha/reservation/scsi_wire.h"

#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "ha/reservation/limits.h"

namespace symnas::ha {
namespace {

std::string bytes(std::string_view hex) { return from_hex(hex).value(); }

std::string keys_answer(std::uint32_t generation, std::size_t count) {
  std::string answer;
  append_be32(answer, generation);
  append_be32(answer, static_cast<std::uint32_t>(count * 8));
  for (std::size_t i = 1; i <= count; ++i) append_be64(answer, 0x5300000000000000 + i);
  return answer;
}

TEST(ReadKeys, AreGenerationAndKeysInOrder) {
  const auto read =
      parse_read_keys(bytes("0000000700000010"
                            "5300000000000001"
                            "5300000000000002"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->generation, 7u);
  EXPECT_EQ(read->keys,
            (std::vector{ReservationKey(0x5300000000000001), ReservationKey(0x5300000000000002)}));
}

TEST(ReadKeys, MayBeNoneAndMayRepeatOnEveryPath) {
  EXPECT_TRUE(parse_read_keys(keys_answer(3, 0))->keys.empty());
  const auto twice =
      parse_read_keys(bytes("00000001000000105300000000000001"
                            "5300000000000001"));
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->keys.size(), 2u);
}

TEST(ReadKeys, BytesBehindTheListAreNoKeys) {
  EXPECT_EQ(parse_read_keys(keys_answer(1, 2) + std::string(64, '\x55'))->keys.size(), 2u);
}

TEST(ReadKeys, AnyCutOffIsAnError) {
  const std::string whole = keys_answer(1, 3);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto read = parse_read_keys(whole.substr(0, length));
    ASSERT_FALSE(read) << length;
    EXPECT_EQ(read.error().code, length < 8 ? ErrorCode::kCorrupt : ErrorCode::kTooLarge) << length;
  }
}

TEST(ReadKeys, AbsurdLengthsAreErrors) {
  EXPECT_EQ(parse_read_keys(bytes("0000000100000009"
                                  "530000000000000100"))
                .error()
                .code,
            ErrorCode::kCorrupt);
  EXPECT_EQ(parse_read_keys(bytes("00000001fffffff8")).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(parse_read_keys(bytes("00000001ffffffff")).error().code, ErrorCode::kCorrupt);
}

TEST(ReadKeys, KeyZeroIsNoRegistration) {
  EXPECT_EQ(parse_read_keys(bytes("00000001000000080000000000000000")).error().code,
            ErrorCode::kCorrupt);
}

// A device that sends what fits; its keys may change between two requests.
struct Asked {
  std::size_t keys = 0;
  std::size_t keys_later = 0;
  bool counts_what_it_sent = false;  // sets the additional length as some targets do
  std::vector<std::size_t> rooms;
  std::string operator()(std::size_t room) {
    std::string whole =
        keys_answer(static_cast<std::uint32_t>(rooms.size()), rooms.empty() ? keys : keys_later);
    rooms.push_back(room);
    if (whole.size() <= room) return whole;
    if (!counts_what_it_sent) return whole.substr(0, room);
    const std::size_t fitting = (room - 8) / 8;
    std::string answer = keys_answer(static_cast<std::uint32_t>(rooms.size() - 1), fitting);
    return answer;
  }
};

Result<Registrations> read_from(Asked& asked) {
  return read_all_keys([&asked](std::size_t room) -> Result<std::string> { return asked(room); });
}

TEST(ReadAllKeys, AFewNeedOneQuestion) {
  Asked asked{.keys = 16, .keys_later = 16};
  EXPECT_EQ(read_from(asked)->keys.size(), 16u);
  EXPECT_EQ(asked.rooms.size(), 1u);
}

TEST(ReadAllKeys, MoreThanTheBufferAreAskedForAnew) {
  Asked asked{.keys = 1000, .keys_later = 1000};
  EXPECT_EQ(read_from(asked)->keys.size(), 1000u);
  EXPECT_EQ(asked.rooms.size(), 2u);
}

// The list must be of one generation: only the second answer counts.
TEST(ReadAllKeys, AChangeInBetweenIsNotMixedIn) {
  Asked asked{.keys = 1000, .keys_later = 2};
  const auto read = read_from(asked);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->generation, 1u);
  EXPECT_EQ(read->keys.size(), 2u);
}

TEST(ReadAllKeys, ADeviceThatCountsOnlyWhatItSentIsNotBelieved) {
  Asked asked{.keys = 1000, .keys_later = 1000, .counts_what_it_sent = true};
  EXPECT_EQ(read_from(asked)->keys.size(), 1000u);
}

TEST(ReadAllKeys, MoreThanOneCommandCanTellIsAnError) {
  Asked asked{.keys = 9000, .keys_later = 9000};
  EXPECT_EQ(read_from(asked).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(asked.rooms.back(), kReadKeysBytesMax);
  Asked short_sighted{.keys = 9000, .keys_later = 9000, .counts_what_it_sent = true};
  EXPECT_EQ(read_from(short_sighted).error().code, ErrorCode::kTooLarge);
}

TEST(ReadAllKeys, LessThanAnnouncedWithRoomForAllIsAnError) {
  const auto read = read_all_keys(
      [](std::size_t) -> Result<std::string> { return keys_answer(1, 3).substr(0, 16); });
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
}

TEST(ReadReservation, IsNoneOrOneOfTheWholeLun) {
  const auto none = parse_read_reservation(bytes("0000000500000000"));
  ASSERT_TRUE(none);
  EXPECT_EQ(none->generation, 5u);
  EXPECT_FALSE(none->reservation);
  const auto held =
      parse_read_reservation(bytes("0000000500000010"
                                   "5300000000000001"
                                   "0000000000060000"));
  ASSERT_TRUE(held);
  EXPECT_EQ(held->reservation, (Reservation{ReservationKey(0x5300000000000001), 6}));
}

TEST(ReadReservation, AnythingElseIsAnError) {
  const std::string whole = bytes(
      "0000000500000010"
      "5300000000000001"
      "0000000000060000");
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(parse_read_reservation(whole.substr(0, length))) << length;
  std::string extent = whole;
  extent[21] = 0x16;  // an extent, as SCSI-2 had it
  EXPECT_FALSE(parse_read_reservation(extent));
  std::string odd = whole;
  odd[7] = 0x0f;
  EXPECT_FALSE(parse_read_reservation(odd));
}

TEST(ReportCapabilities, SayWhatALunCan) {
  auto can = parse_report_capabilities(bytes("000801804a000000"));
  ASSERT_TRUE(can);
  EXPECT_TRUE(can->survives_power_loss);
  EXPECT_TRUE(can->knows_type);
  can = parse_report_capabilities(bytes("000800800a000000"));
  EXPECT_FALSE(can->survives_power_loss);
  EXPECT_FALSE(can->knows_type);
  EXPECT_TRUE(parse_report_capabilities(bytes("0008000000000000"))->knows_type);
  EXPECT_FALSE(parse_report_capabilities(bytes("00080180ea0100")));
  EXPECT_FALSE(parse_report_capabilities(""));
}

// The designators of LIO: T10 vendor, NAA, relative port, target port group, a SCSI name of the
// port.
TEST(Identification, PrefersNaaOfTheLun) {
  const std::string t10 =
      "02010004"
      "4c494f00";
  const std::string naa =
      "01030010"
      "6001405aabbccddeeff0011223344556";
  const std::string eui =
      "01020008"
      "0011223344556677";
  const std::string port_naa =
      "01930008"
      "5000000000000001";
  EXPECT_EQ(parse_identification(bytes("00830008" + t10 + "")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(parse_identification(bytes("0083001c" + t10 + naa)).value(),
            "naa.6001405aabbccddeeff0011223344556");
  EXPECT_EQ(parse_identification(bytes("00830018" + eui + port_naa)).value(),
            "eui.0011223344556677");
}

TEST(Identification, DamageIsAnError) {
  const std::string whole = bytes(
      "00830014"
      "01030010"
      "6001405aabbccddeeff0011223344556");
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(parse_identification(whole.substr(0, length))) << length;
  EXPECT_FALSE(parse_identification(bytes("00800000")));
  EXPECT_FALSE(
      parse_identification(bytes("00830003"
                                 "010300")));
  EXPECT_FALSE(
      parse_identification(bytes("00830008"
                                 "010300ff"
                                 "00000000")));
  EXPECT_EQ(parse_identification(bytes("0083000c"
                                       "01030008"
                                       "0000000000000000"))
                .error()
                .code,
            ErrorCode::kNotFound);
}

}  // namespace
}  // namespace symnas::ha
