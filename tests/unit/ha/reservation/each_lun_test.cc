#include "ha/reservation/each_lun.h"

#include <unistd.h>

#include <chrono>

#include <gtest/gtest.h>

namespace symnas::ha {
namespace {

TEST(OnEach, AnswersInTheOrderOfTheDevices) {
  const auto answers = on_each({"sda", "sdb"}, 5'000, [](const std::string& device) {
    LunState seen{.device = device, .identity = "naa." + device, .did = "absent"};
    seen.registrations = {7, {ReservationKey(1), ReservationKey(2)}};
    seen.reservation = Reservation{ReservationKey(1), 6};
    return Result<LunState>(seen);
  });
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[1]->identity, "naa.sdb");
  EXPECT_EQ(answers[0]->registrations.keys.size(), 2u);
  EXPECT_EQ(answers[0]->reservation->type, 6);
}

TEST(OnEach, ErrorsKeepTheirKind) {
  const auto answers = on_each({"sda"}, 5'000, [](const std::string&) -> Result<LunState> {
    return fail(ErrorCode::kFenced, "sda: \xff gone");
  });
  EXPECT_EQ(answers[0].error().code, ErrorCode::kFenced);
}

TEST(OnEach, WhoHangsHoldsUpNobodyElse) {
  const auto since = std::chrono::steady_clock::now();
  const auto answers = on_each({"hangs", "dies", "sdc"}, 60, [](const std::string& device) {
    if (device == "hangs") ::pause();
    if (device == "dies") ::_exit(0);
    return Result<LunState>(LunState{.device = device});
  });
  EXPECT_LT(std::chrono::steady_clock::now() - since, std::chrono::seconds(5));
  EXPECT_EQ(answers[0].error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(answers[1].error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(answers[2]);
}

}  // namespace
}  // namespace symnas::ha
