#include "vnfsd/records/history.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd {
namespace {

using Cause = Transition::Cause;

records::TenureRecord tenure(std::uint64_t epoch, const std::string& head, std::int64_t served_ms) {
  records::TenureRecord out;
  out.set_epoch(epoch);
  out.set_head(head);
  add_step(*out.mutable_arrival(), step::kClaimed, (served_ms - 2) * 1'000'000);
  add_step(*out.mutable_arrival(), step::kServing, served_ms * 1'000'000);
  return out;
}

records::TenureRecord left(records::TenureRecord out, records::DepartureCause cause,
                           std::string_view step, std::int64_t at_ms) {
  out.mutable_departure()->set_epoch(out.epoch());
  out.mutable_departure()->set_cause(cause);
  add_step(*out.mutable_departure()->mutable_steps(), step, at_ms * 1'000'000);
  return out;
}

TEST(History, AMoveIsDarkFromTheLastRequestToTheNewService) {
  const auto all =
      transitions({left(tenure(1, "a", 10), records::DEPARTURE_MOVED, step::kRetiring, 100),
                   tenure(4, "b", 180)});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].cause, Cause::kStart);
  EXPECT_EQ(all[0].blackout_ms, -1);
  EXPECT_EQ(all[1].cause, Cause::kMove);
  EXPECT_EQ(all[1].from, "a");
  EXPECT_EQ(all[1].to, "b");
  EXPECT_EQ(all[1].epoch, 4u);
  EXPECT_EQ(all[1].blackout_ms, 80);
  EXPECT_EQ(all[1].began_ns, 100'000'000);
  ASSERT_EQ(all[1].steps.size(), 3u);
  EXPECT_EQ(all[1].steps[1].name(), step::kClaimed);
}

TEST(History, WhatIsPreparedEarlierComesFirst) {
  auto next = tenure(2, "b", 180);
  add_step(*next.mutable_arrival(), step::kPrepared, 90'000'000);
  next.mutable_arrival()->SwapElements(2, 1);
  next.mutable_arrival()->SwapElements(1, 0);
  const auto all =
      transitions({left(tenure(1, "a", 10), records::DEPARTURE_MOVED, step::kRetiring, 100), next});
  EXPECT_EQ(all[1].steps[0].name(), step::kPrepared);
  EXPECT_EQ(all[1].blackout_ms, 80);
}

TEST(History, TellsRestartsFailoversAndStartsApart) {
  const auto all =
      transitions({left(tenure(1, "a", 10), records::DEPARTURE_ENDED, step::kEnded, 20),
                   left(tenure(2, "a", 30), records::DEPARTURE_FENCED, step::kFencing, 40),
                   left(tenure(3, "b", 50), records::DEPARTURE_STOPPED, step::kRetiring, 60),
                   tenure(4, "b", 70), tenure(5, "c", 80)});
  EXPECT_EQ(all[1].cause, Cause::kRestart);
  EXPECT_EQ(all[2].cause, Cause::kFailover);
  EXPECT_EQ(all[3].cause, Cause::kStart);
  EXPECT_EQ(all[3].blackout_ms, -1);  // nobody wanted it to be served
  EXPECT_EQ(all[4].cause, Cause::kFailover);
  EXPECT_EQ(all[4].blackout_ms, -1);  // nobody saw the end
}

TEST(History, ClocksThatDisagreeShowNoNegativeTimes) {
  const auto all =
      transitions({left(tenure(1, "a", 10), records::DEPARTURE_MOVED, step::kRetiring, 100),
                   tenure(2, "b", 99)});
  EXPECT_EQ(all[1].blackout_ms, 0);
}

}  // namespace
}  // namespace symnas::vnfsd
