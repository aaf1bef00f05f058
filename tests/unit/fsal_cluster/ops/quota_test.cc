#include "fsal_cluster/ops/quota.h"

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

const Credentials kAnn{1001, 77, {78, 79}};
constexpr Subject user(std::uint32_t id) { return {SubjectKind::kUser, id}; }
constexpr Subject group(std::uint32_t id) { return {SubjectKind::kGroup, id}; }

TEST(MayAskTest, AUserAboutHimselfAndHisGroups) {
  EXPECT_TRUE(may_ask(kAnn, user(1001)));
  EXPECT_TRUE(may_ask(kAnn, group(77)));
  EXPECT_TRUE(may_ask(kAnn, group(79)));
}

TEST(MayAskTest, NotAboutOthers) {
  for (const Subject& subject :
       {user(1002), user(77), user(0), group(1001), group(0), Subject{SubjectKind::kTree, 1001},
        Subject{SubjectKind::kFilesystem, 0}}) {
    const Status refused = may_ask(kAnn, subject);
    ASSERT_FALSE(refused) << to_string(subject);
    EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
  }
}

TEST(MayAskTest, RootAboutEverybody) {
  EXPECT_TRUE(may_ask({0, 0, {}}, user(1001)));
  EXPECT_TRUE(may_ask({0, 0, {}}, group(77)));
}

}  // namespace
}  // namespace symnas::fs
