#include "vnfsd/instance/restart_policy.h"

#include <gtest/gtest.h>

#include "vnfsd/instance/limits.h"

namespace symnas::vnfsd::instance {
namespace {

TEST(RestartPolicy, FirstEndRestartsAtOnce) {
  RestartPolicy policy;
  policy.served(1000);
  EXPECT_EQ(policy.ended(1001), 0);
}

TEST(RestartPolicy, CrashLoopBacksOffAndIsBounded) {
  RestartPolicy policy;
  EXPECT_EQ(policy.ended(0), 0);
  std::int64_t expected = kRestartPauseMinMs;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(policy.ended(i), expected);
    expected = std::min(expected * 2, kRestartPauseMaxMs);
  }
}

TEST(RestartPolicy, HealthyServiceForgives) {
  RestartPolicy policy;
  for (int i = 0; i < 5; ++i) policy.ended(0);
  policy.served(1000);
  EXPECT_GT(policy.ended(1000 + kHealthyServiceMs - 1), 0);
  policy.served(2000);
  EXPECT_EQ(policy.ended(2000 + kHealthyServiceMs), 0);
}

TEST(RestartPolicy, FailedStartAfterServiceIsNoService) {
  RestartPolicy policy;
  policy.served(0);
  EXPECT_EQ(policy.ended(kHealthyServiceMs), 0);
  EXPECT_EQ(policy.ended(3 * kHealthyServiceMs), kRestartPauseMinMs);  // never served since
}

TEST(RestartPolicy, AdministratorBeginsAnew) {
  RestartPolicy policy;
  for (int i = 0; i < 5; ++i) policy.ended(0);
  policy.reset();
  EXPECT_EQ(policy.ended(1), 0);
}

}  // namespace
}  // namespace symnas::vnfsd::instance
