#include "vnfsd/instance/supervisor_requests.h"

#include <poll.h>

#include <gtest/gtest.h>

namespace symnas::vnfsd::instance {
namespace {

class SupervisorRequestsTest : public ::testing::Test {
 protected:
  // Whether something was asked for since the last sleep.
  bool is_woken() const {
    pollfd entry{requests.fd(), POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1;
  }
  SupervisorRequests requests{Wanted::kStarted};
};

TEST_F(SupervisorRequestsTest, WhatIsWantedAnewWakes) {
  EXPECT_EQ(requests.wanted(), Wanted::kStarted);
  requests.set_wanted(Wanted::kStarted);
  EXPECT_FALSE(is_woken());
  requests.set_wanted(Wanted::kStopped);
  EXPECT_TRUE(is_woken());
  EXPECT_EQ(requests.wanted(), Wanted::kStopped);
  requests.sleep(-1);
  EXPECT_FALSE(is_woken());
}

TEST_F(SupervisorRequestsTest, AnInstanceIsKilledOnce) {
  requests.end_instance(Epoch(7), "silent");
  EXPECT_TRUE(is_woken());
  EXPECT_EQ(requests.take_end(Epoch(7)), "silent");
  EXPECT_FALSE(requests.take_end(Epoch(7)));
  requests.end_instance(Epoch(7), "silent");
  EXPECT_FALSE(requests.take_end(Epoch(7))) << "it is being killed";
}

TEST_F(SupervisorRequestsTest, WhatIsSaidOfAnotherInstanceIsForgotten) {
  requests.end_instance(Epoch(6), "silent");
  EXPECT_FALSE(requests.take_end(Epoch(7)));
  EXPECT_FALSE(requests.take_end(Epoch(6)));
  requests.end_instance(Epoch(7), "silent");
  requests.forget_end();
  EXPECT_FALSE(requests.take_end(Epoch(7)));
}

TEST_F(SupervisorRequestsTest, OnlyAnInstanceThatMayOpenLunsHasToBeRefreshed) {
  requests.refresh();
  EXPECT_TRUE(requests.refreshed()) << "there is none";
  requests.show([](InstanceSnapshot& shown) {
    shown.pid = 42;
    shown.phase = Phase::kServing;
  });
  EXPECT_FALSE(requests.refreshed());
  requests.take_refresh();
  EXPECT_TRUE(requests.refreshed());
  requests.put_refresh_back();
  EXPECT_FALSE(requests.refreshed());
  requests.show([](InstanceSnapshot& shown) { shown.phase = Phase::kPrepared; });
  EXPECT_TRUE(requests.refreshed()) << "a standby gets its file when it is called";
}

TEST_F(SupervisorRequestsTest, ShowsWhatItWasGiven) {
  requests.show([](InstanceSnapshot& shown) { ++shown.restarts; });
  EXPECT_EQ(requests.snapshot().restarts, 1u);
}

TEST_F(SupervisorRequestsTest, TheEndWakes) {
  EXPECT_FALSE(requests.ending());
  requests.end();
  EXPECT_TRUE(requests.ending());
  EXPECT_TRUE(is_woken());
}

}  // namespace
}  // namespace symnas::vnfsd::instance
