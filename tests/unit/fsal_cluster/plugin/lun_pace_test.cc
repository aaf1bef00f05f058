#include "fsal_cluster/plugin/lun_pace.h"

#include <gtest/gtest.h>

namespace symnas::plugin {
namespace {

TEST(LunPaceTest, SomeLongOnesAmongShortOnesAreNotSlow) {
  LunPace pace;
  for (int i = 0; i < 1000; ++i) {
    pace.note(i % 10 == 0 ? 10'000'000 : 20'000);
    EXPECT_FALSE(pace.is_slow()) << i;
  }
}

TEST(LunPaceTest, FollowsADeviceThatBecomesSlowAndRecovers) {
  LunPace pace;
  for (int i = 0; i < 1000; ++i) pace.note(20'000);
  for (int i = 0; i < 33; ++i) pace.note(500'000);
  EXPECT_TRUE(pace.is_slow());
  for (int i = 0; i < 1000; ++i) pace.note(500'000);
  for (int i = 0; i < 32; ++i) pace.note(20'000);
  EXPECT_FALSE(pace.is_slow());
}

}  // namespace
}  // namespace symnas::plugin
