#include "vnfsd/daemon/upkeep/compaction.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::daemon {
namespace {

TEST(Compaction, DiscardsOnlyWhatIsOldEnough) {
  Compaction compaction(600, 1000);
  EXPECT_EQ(compaction.tick(0, Revision(10)), std::nullopt);
  EXPECT_EQ(compaction.tick(300, Revision(20)), std::nullopt);
  EXPECT_EQ(compaction.tick(599, Revision(30)), std::nullopt);
  EXPECT_EQ(compaction.tick(600, Revision(40)), Revision(10));
  EXPECT_EQ(compaction.tick(601, Revision(41)), std::nullopt);
  EXPECT_EQ(compaction.tick(1199, Revision(50)), Revision(30));
}

TEST(Compaction, AnIdleClusterIsCompactedOnce) {
  Compaction compaction(600, 1000);
  EXPECT_EQ(compaction.tick(0, Revision(10)), std::nullopt);
  EXPECT_EQ(compaction.tick(700, Revision(10)), Revision(10));
  EXPECT_EQ(compaction.tick(800, Revision(10)), std::nullopt);
  EXPECT_EQ(compaction.tick(1400, Revision(10)), std::nullopt);
  EXPECT_EQ(compaction.tick(1500, Revision(11)), std::nullopt);
  EXPECT_EQ(compaction.tick(2100, Revision(12)), Revision(11));
}

TEST(Compaction, ABusyClusterKeepsABoundedNumberOfRevisions) {
  Compaction compaction(600, 1000);
  EXPECT_EQ(compaction.tick(0, Revision(5000)), Revision(4000));
  EXPECT_EQ(compaction.tick(1, Revision(5000)), std::nullopt);
  EXPECT_EQ(compaction.tick(2, Revision(5001)), Revision(4001));
  EXPECT_EQ(compaction.tick(600, Revision(5002)), Revision(5000));  // by age
  EXPECT_EQ(compaction.tick(601, Revision(5003)), std::nullopt);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
