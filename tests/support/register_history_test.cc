#include "tests/support/register_history.h"

#include <gtest/gtest.h>

#include <functional>

namespace symnas::test {
namespace {

constexpr auto kNever = RegisterHistory::kNever;

TEST(RegisterHistoryTest, WhatCanHaveHappenedIsAccepted) {
  RegisterHistory empty;
  EXPECT_FALSE(empty.violation());

  RegisterHistory history;
  history.add_read(0, 1, 2);
  history.add_write(1, 10, 20);
  history.add_read(0, 11, 19);  // concurrent with the write: ordered before it
  history.add_read(1, 11, 12);  // ordered after it
  history.add_read(1, 21, 30);
  history.add_write(2, 40, 60);
  history.add_write(3, 41, 61);  // either order
  history.add_read(2, 62, 63);
  EXPECT_FALSE(history.violation());
}

TEST(RegisterHistoryTest, AnUnknownOutcomeMayComeLateOrNever) {
  RegisterHistory never;
  never.add_write(1, 10, kNever);
  never.add_read(0, 1000, 1001);
  EXPECT_FALSE(never.violation());

  RegisterHistory late;
  late.add_write(1, 10, kNever);
  late.add_write(2, 20, 30);
  late.add_read(2, 40, 50);
  late.add_read(1, 60, 70);
  EXPECT_FALSE(late.violation());
}

struct Planted {
  const char* name;
  std::function<void(RegisterHistory&)> make;
};

class PlantedViolation : public testing::TestWithParam<Planted> {};

TEST_P(PlantedViolation, IsRejected) {
  RegisterHistory history;
  GetParam().make(history);
  EXPECT_TRUE(history.violation());
}

INSTANTIATE_TEST_SUITE_P(RegisterHistoryTest, PlantedViolation,
                         testing::Values(Planted{"StaleReadAfterAnAcknowledgedWrite",
                                                 [](RegisterHistory& h) {
                                                   h.add_write(1, 10, 20);
                                                   h.add_read(0, 21, 22);
                                                 }},
                                         Planted{"ReadOfWhatNobodyWrote",
                                                 [](RegisterHistory& h) { h.add_read(7, 1, 2); }},
                                         Planted{"ReadBeforeTheWriteBegan",
                                                 [](RegisterHistory& h) {
                                                   h.add_read(1, 1, 2);
                                                   h.add_write(1, 10, 20);
                                                 }},
                                         Planted{"TwoReadersSeeOppositeOrders",
                                                 [](RegisterHistory& h) {
                                                   h.add_write(1, 10, 100);
                                                   h.add_write(2, 10, 100);
                                                   h.add_read(1, 20, 30);
                                                   h.add_read(2, 40, 50);
                                                   h.add_read(1, 60, 70);
                                                 }},
                                         Planted{"ReadGoesBackWhileTheWriteIsUnderWay",
                                                 [](RegisterHistory& h) {
                                                   h.add_write(1, 10, 100);
                                                   h.add_read(1, 20, 30);
                                                   h.add_read(0, 40, 50);
                                                 }},
                                         Planted{"LostUpdate",
                                                 [](RegisterHistory& h) {
                                                   h.add_write(1, 10, 20);
                                                   h.add_write(2, 30, 40);
                                                   h.add_read(1, 50, 60);
                                                 }},
                                         Planted{"OldValueComesBackAfterTheNewOneWasSeen",
                                                 [](RegisterHistory& h) {
                                                   h.add_write(1, 10, 20);
                                                   h.add_write(2, 30, kNever);
                                                   h.add_read(2, 40, 50);
                                                   h.add_read(1, 60, 70);
                                                 }},
                                         Planted{"AnUnknownWriteIsSeenAndLostAgain",
                                                 [](RegisterHistory& h) {
                                                   h.add_write(1, 10, kNever);
                                                   h.add_read(1, 20, 30);
                                                   h.add_read(0, 40, 50);
                                                 }},
                                         Planted{"AWholeWriteBetweenTwoReadsOfAnother",
                                                 [](RegisterHistory& h) {
                                                   h.add_write(1, 10, 20);
                                                   h.add_read(1, 21, 22);
                                                   h.add_write(2, 30, 40);
                                                   h.add_read(1, 50, 60);
                                                 }},
                                         Planted{"TheInitialValueAfterALaterWriteWasRead",
                                                 [](RegisterHistory& h) {
                                                   h.add_write(1, 10, 90);
                                                   h.add_write(2, 10, 90);
                                                   h.add_read(2, 20, 30);
                                                   h.add_read(0, 35, 40);
                                                 }},
                                         Planted{"ThreeValuesInACircle",
                                                 [](RegisterHistory& h) {
                                                   h.add_write(1, 10, 100);
                                                   h.add_write(2, 10, 100);
                                                   h.add_write(3, 10, 100);
                                                   h.add_read(1, 20, 21);
                                                   h.add_read(2, 22, 23);
                                                   h.add_read(3, 24, 25);
                                                   h.add_read(1, 26, 27);
                                                 }}),
                         [](const testing::TestParamInfo<Planted>& planted) {
                           return planted.param.name;
                         });

}  // namespace
}  // namespace symnas::test
