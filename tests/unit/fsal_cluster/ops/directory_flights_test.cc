#include "fsal_cluster/ops/directory_flights.h"

#include <gtest/gtest.h>

#include <optional>

namespace symnas::fs {
namespace {

TEST(DirectoryFlightsTest, AloneUntilAnotherEnters) {
  DirectoryFlights flights;
  const auto first = flights.enter(Ino{1});
  EXPECT_TRUE(first.alone());
  const auto other_directory = flights.enter(Ino{17});
  EXPECT_TRUE(first.alone());
  const auto second = flights.enter(Ino{1});
  EXPECT_FALSE(first.alone());
  EXPECT_FALSE(second.alone());
  EXPECT_TRUE(other_directory.alone());
}

TEST(DirectoryFlightsTest, AnOverlapThatIsOverStillCounts) {
  DirectoryFlights flights;
  const auto first = flights.enter(Ino{1});
  { const auto second = flights.enter(Ino{1}); }
  EXPECT_FALSE(first.alone());
}

TEST(DirectoryFlightsTest, AloneAgainAfterAllHaveLeft) {
  DirectoryFlights flights;
  { const auto first = flights.enter(Ino{1}); }
  const auto second = flights.enter(Ino{1});
  EXPECT_TRUE(second.alone());
}

}  // namespace
}  // namespace symnas::fs
