// LastAnswers: how often a head that has answered must stay silent.
#include "vnfsd/daemon/last_answers.h"

#include <gtest/gtest.h>

#include "vnfsd/daemon/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

TEST(LastAnswersTest, WhoHasNotAnsweredSinceItsProbesStoppedIsDead) {
  LastAnswers answers;
  EXPECT_TRUE(answers.asked("c1n2", false));
}

TEST(LastAnswersTest, WhoHasAnsweredMayMissQuestions) {
  LastAnswers answers;
  EXPECT_FALSE(answers.asked("c1n2", true));
  for (int i = 1; i < kMissingMin; ++i) EXPECT_FALSE(answers.asked("c1n2", false)) << i;
  EXPECT_FALSE(answers.asked("c1n2", true));
  for (int i = 1; i < kMissingMin; ++i) EXPECT_FALSE(answers.asked("c1n2", false)) << i;
  EXPECT_TRUE(answers.asked("c1n2", false));
  EXPECT_TRUE(answers.asked("c1n2", false));
}

TEST(LastAnswersTest, HeadsAreToldApartAndForgotten) {
  LastAnswers answers;
  EXPECT_FALSE(answers.asked("c1n2", true));
  EXPECT_TRUE(answers.asked("c1n1", false));
  answers.forget("c1n2");
  EXPECT_TRUE(answers.asked("c1n2", false));
}

TEST(LastAnswersTest, NobodyIsBlamedForAStoreThatWasAway) {
  LastAnswers answers;
  answers.excuse("c1n2");
  EXPECT_FALSE(answers.asked("c1n2", false));
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
