#include "vnfsd/instance/partings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/jumping_clock.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::instance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kFirst = "10.0.0.1:2049 10.0.9.1:700";
constexpr const char* kSecond = "10.0.0.1:2049 10.0.9.2:701";

class PartingsTest : public testing::Test {
 protected:
  static std::vector<Connection> connections(const std::vector<std::string>& texts) {
    return connections_from(texts);
  }

  test::JumpingClock clock;
  SupervisorRequests requests{Wanted::kStarted};
  Partings partings{requests, clock};
};

TEST_F(PartingsTest, WhoFollowsHereWakesTheClientsOfTheLastOne) {
  partings.begin_farewell(Epoch(4));
  partings.farewell().connections = {kFirst};
  partings.left(connections({kSecond}));
  partings.follow_up();
  EXPECT_EQ(partings.left().size(), 2U);
  const Arrival arrival = partings.take_arrival();
  EXPECT_EQ(arrival.last.epoch(), 4U);
  EXPECT_EQ(arrival.last.cause(), records::DEPARTURE_STOPPED);
}

TEST_F(PartingsTest, WhatIsGivenUpNamesAllWhoWereLeftOnce) {
  partings.begin_farewell(Epoch(4));
  partings.left(connections({kSecond, kFirst}));
  EXPECT_THAT(partings.final_words({kFirst}).connections, ElementsAre(kFirst, kSecond));
  EXPECT_THAT(partings.final_words({kFirst}).connections, ElementsAre(kFirst, kSecond))
      << "when it could not be given up at first";
}

TEST_F(PartingsTest, ACrashWhileItsClientsWaitForTheLastOneIsNotWhatTheyWaitFor) {
  partings.crashed(Epoch(4), "signal 11");
  partings.launched(Epoch(5));
  partings.crashed(Epoch(5), "signal 6");
  const Arrival arrival = partings.take_arrival();
  EXPECT_EQ(arrival.last.epoch(), 4U);
  EXPECT_EQ(arrival.last.error(), "signal 11");
}

TEST_F(PartingsTest, ClientsAreWokenOnceMoreAndAreKnownUntilThen) {
  EXPECT_FALSE(partings.waking_is_due());
  partings.woken(connections({kFirst}));
  EXPECT_FALSE(partings.waking_is_due());
  EXPECT_THAT(requests.snapshot().unheard, ElementsAre(kFirst));
  clock.jump_ns(kWakeAgainMs * 1'000'000);
  EXPECT_TRUE(partings.waking_is_due());
  EXPECT_EQ(partings.take_unheard().size(), 1U);
  EXPECT_FALSE(partings.waking_is_due());
  EXPECT_THAT(requests.snapshot().unheard, IsEmpty());
}

TEST_F(PartingsTest, TheProofOfAnEndBelongsToWhatEndedLast) {
  partings.crashed(Epoch(4), "signal 11");
  partings.proved();
  const Arrival arrival = partings.take_arrival();
  ASSERT_EQ(arrival.last.steps_size(), 2);
  EXPECT_EQ(arrival.last.steps(1).name(), step::kProved);
}

}  // namespace
}  // namespace symnas::vnfsd::instance
