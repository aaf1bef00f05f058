#include "fsal_cluster/quota/refusal_log.h"

#include <gtest/gtest.h>

#include "fsal_cluster/quota/limits.h"

namespace symnas::fs {
namespace {

constexpr Subject kAnn{SubjectKind::kUser, 1};
constexpr Subject kBob{SubjectKind::kUser, 2};

TEST(RefusalLogTest, ASubjectHasOneLineAMinute) {
  RefusalLog log;
  EXPECT_TRUE(log.is_due(kAnn, 0));
  EXPECT_FALSE(log.is_due(kAnn, kRefusalPauseNs - 1));
  EXPECT_TRUE(log.is_due(kBob, kRefusalPauseNs - 1));
  EXPECT_TRUE(log.is_due(kAnn, kRefusalPauseNs));
  EXPECT_FALSE(log.is_due(kBob, kRefusalPauseNs));
}

TEST(RefusalLogTest, ManySubjectsDoNotFillTheLog) {
  RefusalLog log;
  for (std::uint32_t id = 0; id < kRefusalsKnownMax; ++id)
    EXPECT_TRUE(log.is_due({SubjectKind::kUser, id}, 0));
  EXPECT_FALSE(log.is_due({SubjectKind::kGroup, 1}, 1));
  EXPECT_TRUE(log.is_due({SubjectKind::kGroup, 1}, kRefusalPauseNs));
}

}  // namespace
}  // namespace symnas::fs
