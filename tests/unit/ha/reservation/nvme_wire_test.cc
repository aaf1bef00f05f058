// Reservation Report, little-endian, in both formats.
#include "ha/reservation/nvme_wire.h"

#include <gtest/gtest.h>

#include "common/base/bytes.h"

namespace symnas::ha {
namespace {

std::string plain() {
  return from_hex(
             "0a000000"
             "04"
             "0200"
             "0000"
             "01"
             "0000000000000000000000000000"
             "0100"
             "00"
             "0000000000"
             "aaaaaaaaaaaaaaaa"
             "0100000000000053"
             "0200"
             "01"
             "0000000000"
             "bbbbbbbbbbbbbbbb"
             "0200000000000053")
      .value();
}

TEST(NvmeReport, ListsKeysAndHolder) {
  const auto report = parse_reservation_report(plain(), NvmeReport::kPlain);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->registrations.generation, 10u);
  EXPECT_EQ(report->registrations.keys,
            (std::vector{ReservationKey(0x5300000000000001), ReservationKey(0x5300000000000002)}));
  EXPECT_EQ(report->reservation, (Reservation{ReservationKey(0x5300000000000002), 6}));
}

TEST(NvmeReport, ExtendedHasItsKeyElsewhere) {
  std::string report(64 + 64, '\0');
  report[0] = 3;
  report[5] = 1;
  report[64 + 8] = 7;
  const auto parsed = parse_reservation_report(report, NvmeReport::kExtended);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->registrations.keys, std::vector{ReservationKey(7)});
  EXPECT_FALSE(parsed->reservation);
}

TEST(NvmeReport, AnyCutOffIsAnError) {
  const std::string whole = plain();
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(parse_reservation_report(whole.substr(0, length), NvmeReport::kPlain)) << length;
  EXPECT_EQ(parse_reservation_report(whole.substr(0, 40), NvmeReport::kPlain).error().code,
            ErrorCode::kTooLarge);
}

TEST(NvmeReport, AbsurdOnesAreErrors) {
  std::string unknown_type = plain();
  unknown_type[4] = 7;
  EXPECT_FALSE(parse_reservation_report(unknown_type, NvmeReport::kPlain));
  std::string unheld = plain();
  unheld[24 + 24 + 2] = 0;
  EXPECT_FALSE(parse_reservation_report(unheld, NvmeReport::kPlain));
  std::string no_key = plain();
  no_key.replace(24 + 16, 8, 8, '\0');
  EXPECT_FALSE(parse_reservation_report(no_key, NvmeReport::kPlain));
}

}  // namespace
}  // namespace symnas::ha
