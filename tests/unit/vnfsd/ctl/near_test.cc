#include "vnfsd/ctl/near.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::ctl {
namespace {

TEST(Near, CountsEdits) {
  EXPECT_EQ(edits_between("", ""), 0u);
  EXPECT_EQ(edits_between("status", "status"), 0u);
  EXPECT_EQ(edits_between("statsu", "status"), 1u);  // neighbours swapped
  EXPECT_EQ(edits_between("staus", "status"), 1u);
  EXPECT_EQ(edits_between("", "abc"), 3u);
  EXPECT_EQ(edits_between("rehost", "restart"), 4u);
}

TEST(Near, FindsTheNearestAndNothingFar) {
  const std::vector<std::string> verbs = {"status", "start", "stop", "rehost", "ls"};
  EXPECT_EQ(nearest("statsu", verbs), "status");
  EXPECT_EQ(nearest("rehots", verbs), "rehost");
  EXPECT_EQ(nearest("strat", verbs), "start");
  EXPECT_EQ(nearest("banana", verbs), "");
  EXPECT_EQ(nearest("l", verbs), "");
  EXPECT_EQ(nearest("", verbs), "");
  EXPECT_EQ(nearest(std::string(10'000, 'x'), verbs), "");
}

}  // namespace
}  // namespace symnas::vnfsd::ctl
