#include "ha/reservation/report.h"

#include <gtest/gtest.h>

namespace symnas::ha {
namespace {

LunState lun() {
  LunState seen{.device = "/dev/sda", .identity = "naa.1", .did = "preempted"};
  seen.registrations = {3, {ReservationKey(0x5300000000000002)}};
  seen.reservation = Reservation{ReservationKey(0x5300000000000002), 6};
  return seen;
}

TEST(Report, IsOneLineOfJson) {
  Report report{.command = "preempt", .own = "0x5300000000000002", .victim = "0x1"};
  report.devices = {"/dev/sda", "/dev/sdb"};
  report.luns = {lun(), fail(ErrorCode::kIo, "/dev/sdb: I/O error")};
  EXPECT_EQ(render_json(report),
            "{\"command\":\"preempt\",\"verdict\":\"not_done\",\"own\":\"0x5300000000000002\","
            "\"victim\":\"0x1\",\"luns\":[{\"device\":\"/dev/sda\",\"lun\":\"naa.1\","
            "\"did\":\"preempted\",\"generation\":3,\"keys\":[\"0x5300000000000002\"],"
            "\"holder\":\"0x5300000000000002\",\"type\":6},"
            "{\"device\":\"/dev/sdb\",\"error\":\"/dev/sdb: I/O error\"}]}\n");
  EXPECT_EQ(render_text(report),
            "/dev/sda  naa.1  preempted  generation 3  type 6 by 0x5300000000000002  keys: "
            "0x5300000000000002\n/dev/sdb: I/O error\npreempt: not_done\n");
}

TEST(Report, SaysWhatReservationsCanDo) {
  LunState seen = lun();
  seen.did.clear();
  seen.can = Capabilities{.survives_power_loss = false, .knows_type = true};
  const Report report{.command = "keys", .devices = {"/dev/sda"}, .luns = {seen}};
  EXPECT_NE(render_json(report).find("\"survives_power_loss\":false,\"knows_type\":true"),
            std::string::npos)
      << render_json(report);
  EXPECT_NE(render_text(report).find("cannot fence: forgets reservations at a power loss"),
            std::string::npos);
  EXPECT_EQ(*parse_answer(render_answer(seen), "/dev/sda"), seen);
}

TEST(Report, TheGravestDecides) {
  const auto error = [](ErrorCode code) { return Result<LunState>(fail(code, "x")); };
  EXPECT_EQ(exit_status_of({lun()}), ExitStatus::kDone);
  EXPECT_EQ(exit_status_of({lun(), error(ErrorCode::kIo)}), ExitStatus::kNotDone);
  EXPECT_EQ(exit_status_of({error(ErrorCode::kIo), error(ErrorCode::kConflict)}),
            ExitStatus::kConflict);
  EXPECT_EQ(exit_status_of({error(ErrorCode::kConflict), error(ErrorCode::kPermission)}),
            ExitStatus::kSecondTime);
  EXPECT_EQ(exit_status_of({error(ErrorCode::kPermission), error(ErrorCode::kFenced)}),
            ExitStatus::kOwnKeyMissing);
  EXPECT_EQ(exit_status_of({}), ExitStatus::kNotDone);
}

TEST(Report, ProcessesUnderstandEachOther) {
  EXPECT_EQ(parse_answer(render_answer(lun()), "/dev/sda").value(), lun());
  LunState held_by_all = lun();
  held_by_all.reservation = Reservation{ReservationKey(), 8};
  EXPECT_EQ(parse_answer(render_answer(held_by_all), "/dev/sda").value(), held_by_all);
  EXPECT_EQ(parse_answer("{\"device\":", "/dev/sda").error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(parse_answer("", "/dev/sda").error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(parse_answer("{\"keys\":[]}", "/dev/sda").error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace symnas::ha
