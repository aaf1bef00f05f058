// LastAnswers: how often a head that has given a sign of life must stay silent.
#include "vnfsd/daemon/detection/last_answers.h"

#include <gtest/gtest.h>

#include "vnfsd/daemon/detection/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

using probe::Sign;
using Verdict = LastAnswers::Verdict;

TEST(LastAnswersTest, WhoHasNotAnsweredSinceItsProbesStoppedIsDead) {
  LastAnswers answers;
  EXPECT_EQ(answers.asked("c1n2", Sign::kNone), Verdict::kDead);
}

TEST(LastAnswersTest, WhoHasAnsweredMayMissQuestions) {
  LastAnswers answers;
  EXPECT_EQ(answers.asked("c1n2", Sign::kAnswered), Verdict::kLives);
  for (int i = 1; i < kMissingMin; ++i)
    EXPECT_EQ(answers.asked("c1n2", Sign::kNone), Verdict::kLives) << i;
  EXPECT_EQ(answers.asked("c1n2", Sign::kAnswered), Verdict::kLives);
  for (int i = 1; i < kMissingMin; ++i)
    EXPECT_EQ(answers.asked("c1n2", Sign::kNone), Verdict::kLives) << i;
  EXPECT_EQ(answers.asked("c1n2", Sign::kNone), Verdict::kDead);
  EXPECT_EQ(answers.asked("c1n2", Sign::kNone), Verdict::kDead);
}

// Sixteen heads on two cores: ganesha had not answered 300 ms after its kernel took the connection.
TEST(LastAnswersTest, WhoseKernelTakesConnectionsIsLate) {
  LastAnswers answers;
  for (int i = 1; i < kMissingMin; ++i)
    EXPECT_EQ(answers.asked("c1n2", Sign::kAccepted), Verdict::kLives) << i;
  EXPECT_EQ(answers.asked("c1n2", Sign::kAccepted), Verdict::kDead);
}

TEST(LastAnswersTest, HeadsAreToldApartAndForgotten) {
  LastAnswers answers;
  EXPECT_EQ(answers.asked("c1n2", Sign::kAnswered), Verdict::kLives);
  EXPECT_EQ(answers.asked("c1n1", Sign::kNone), Verdict::kDead);
  answers.forget("c1n2");
  EXPECT_EQ(answers.asked("c1n2", Sign::kNone), Verdict::kDead);
}

TEST(LastAnswersTest, NobodyIsBlamedForAStoreThatWasAway) {
  LastAnswers answers;
  answers.excuse("c1n2");
  EXPECT_EQ(answers.asked("c1n2", Sign::kNone), Verdict::kLives);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
