#include "fsal_cluster/quota/subject.h"

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

TEST(Subjects, AnInodeCountsForFour) {
  Usages usages;
  add(usages, Subjects{1, 2, 3, 0}, {8, 1});
  EXPECT_EQ(usages.size(), 4U);
  EXPECT_EQ((usages[{SubjectKind::kTree, 3}]), (Usage{8, 1}));
  add(usages, Subjects{1, 2, 3, 0}, {-8, -1});
  EXPECT_TRUE(usages.empty());
}

TEST(Subjects, NoTreeIsNoSubject) {
  Usages usages;
  add(usages, Subjects{1, 2, 0, 0}, {8, 1});
  EXPECT_EQ(usages.size(), 3U);
}

TEST(Subjects, HaveNamesForMessages) {
  EXPECT_EQ(to_string(Subject{SubjectKind::kUser, 1000}), "user 1000");
  EXPECT_EQ(to_string(Subject{}), "filesystem");
}

}  // namespace
}  // namespace symnas::fs
