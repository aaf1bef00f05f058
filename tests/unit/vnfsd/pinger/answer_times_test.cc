#include "vnfsd/pinger/answer_times.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::pinger {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(AnswerTimes, NothingIsAGapBeforeTheFirst) {
  AnswerTimes answers(50 * kMs);
  answers.ended(900 * kMs);
  EXPECT_EQ(answers.count(), 0u);
  EXPECT_EQ(answers.longest().ms(), 0);
  EXPECT_TRUE(answers.gaps().empty());
}

TEST(AnswerTimes, RemembersTheLongerGapsAndTheLongest) {
  AnswerTimes answers(50 * kMs);
  for (const std::int64_t ms : {10, 20, 120, 130, 190}) answers.answered(ms * kMs);
  EXPECT_EQ(answers.count(), 5u);
  EXPECT_EQ(answers.longest().ms(), 100);
  ASSERT_EQ(answers.gaps().size(), 2u);
  EXPECT_EQ(answers.gaps()[1].began_ns, 130 * kMs);
  EXPECT_EQ(answers.gaps()[1].ms(), 60);
}

TEST(AnswerTimes, TheLastGapCountsToo) {
  AnswerTimes answers(50 * kMs);
  answers.answered(10 * kMs);
  answers.ended(500 * kMs);
  EXPECT_EQ(answers.longest().ms(), 490);
  EXPECT_EQ(answers.gaps().size(), 1u);
}

TEST(AnswerTimes, RemembersSoManyGapsOnly) {
  AnswerTimes answers(50 * kMs);
  for (std::int64_t i = 0; i < 1000; ++i) answers.answered(i * 60 * kMs);
  EXPECT_EQ(answers.gaps().size(), 100u);
}

}  // namespace
}  // namespace symnas::vnfsd::pinger
