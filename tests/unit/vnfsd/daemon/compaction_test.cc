#include "vnfsd/daemon/compaction.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::daemon {
namespace {

TEST(Compaction, DiscardsOnlyWhatIsOldEnough) {
  Compaction compaction(600);
  EXPECT_EQ(compaction.tick(0, Revision(10)), std::nullopt);
  EXPECT_EQ(compaction.tick(300, Revision(20)), std::nullopt);
  EXPECT_EQ(compaction.tick(599, Revision(30)), std::nullopt);
  EXPECT_EQ(compaction.tick(600, Revision(40)), Revision(10));
  EXPECT_EQ(compaction.tick(601, Revision(41)), std::nullopt);
  EXPECT_EQ(compaction.tick(1199, Revision(50)), Revision(30));
}

TEST(Compaction, AnIdleClusterIsCompactedOnce) {
  Compaction compaction(600);
  EXPECT_EQ(compaction.tick(0, Revision(10)), std::nullopt);
  EXPECT_EQ(compaction.tick(700, Revision(10)), Revision(10));
  // Seen again after it was answered: answering it twice is harmless, forgetting it is not.
  EXPECT_EQ(compaction.tick(800, Revision(10)), std::nullopt);
  EXPECT_EQ(compaction.tick(1400, Revision(11)), Revision(10));
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
