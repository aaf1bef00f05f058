// LastAnswers: how often a head that has given a sign of life must stay silent.
#include "vnfsd/daemon/detection/last_answers.h"

#include <gtest/gtest.h>

#include "vnfsd/daemon/detection/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

using probe::Sign;
using Liveness = LastAnswers::Liveness;

TEST(LastAnswersTest, WhoHasNotAnsweredSinceItsProbesStoppedIsDead) {
  LastAnswers answers;
  EXPECT_EQ(answers.asked("c1n2", Sign::kNone), Liveness::kDead);
}

TEST(LastAnswersTest, WhoHasAnsweredMayMissQuestions) {
  LastAnswers answers;
  EXPECT_EQ(answers.asked("c1n2", Sign::kAnswered), Liveness::kLives);
  for (int i = 1; i < kMissingMin; ++i)
    EXPECT_EQ(answers.asked("c1n2", Sign::kNone), Liveness::kLives) << i;
  EXPECT_EQ(answers.asked("c1n2", Sign::kAnswered), Liveness::kLives);
  for (int i = 1; i < kMissingMin; ++i)
    EXPECT_EQ(answers.asked("c1n2", Sign::kNone), Liveness::kLives) << i;
  EXPECT_EQ(answers.asked("c1n2", Sign::kNone), Liveness::kDead);
  EXPECT_EQ(answers.asked("c1n2", Sign::kNone), Liveness::kDead);
}

// Sixteen heads on two cores: ganesha had not answered 300 ms after its kernel took the connection.
TEST(LastAnswersTest, WhoseKernelTakesConnectionsIsLate) {
  LastAnswers answers;
  for (int i = 1; i < kMissingMin; ++i)
    EXPECT_EQ(answers.asked("c1n2", Sign::kAccepted), Liveness::kLives) << i;
  EXPECT_EQ(answers.asked("c1n2", Sign::kAccepted), Liveness::kDead);
}

TEST(LastAnswersTest, HeadsAreToldApartAndForgotten) {
  LastAnswers answers;
  EXPECT_EQ(answers.asked("c1n2", Sign::kAnswered), Liveness::kLives);
  EXPECT_EQ(answers.asked("c1n1", Sign::kNone), Liveness::kDead);
  answers.forget("c1n2");
  EXPECT_EQ(answers.asked("c1n2", Sign::kNone), Liveness::kDead);
}

TEST(LastAnswersTest, NobodyIsBlamedForAStoreThatWasAway) {
  LastAnswers answers;
  answers.excuse("c1n2");
  EXPECT_EQ(answers.asked("c1n2", Sign::kNone), Liveness::kLives);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
