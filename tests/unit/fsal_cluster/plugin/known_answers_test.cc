#include "fsal_cluster/plugin/known_answers.h"

#include <string>

#include <gtest/gtest.h>

namespace symnas::plugin {
namespace {

class KnownAnswersTest : public ::testing::Test {
 protected:
  using Time = std::chrono::steady_clock::time_point;
  static std::chrono::milliseconds ms(std::int64_t count) {
    return std::chrono::milliseconds(count);
  }
  bool wait() {
    return answers.wait("a", now, [this] { ++resumed; });
  }

  std::vector<std::string> asked;
  int resumed = 0;
  Time now{ms(1'000'000)};
  KnownAnswers<std::string, int> answers{[this](const std::string& key) { asked.push_back(key); }};
};

TEST_F(KnownAnswersTest, AFullTableForgetsWhatNobodyUses) {
  KnownAnswers<std::string, int> two{[this](const std::string& key) { asked.push_back(key); }, 2};
  for (const char* key : {"a", "b"}) {
    EXPECT_FALSE(two.find(key, now));
    two.answer(key, 1, true, now);
  }
  EXPECT_FALSE(two.find("c", now));
  EXPECT_EQ(asked.size(), 2u);
  now += ms(kRefreshNamesMs + 1);
  EXPECT_FALSE(two.find("c", now));
  EXPECT_EQ(asked.back(), "c");
}

TEST_F(KnownAnswersTest, IsAskedOnceAndAgainWhenItIsOld) {
  EXPECT_FALSE(answers.find("a", now));
  EXPECT_FALSE(answers.find("a", now));
  EXPECT_EQ(asked.size(), 1u);
  answers.answer("a", 7, true, now);
  EXPECT_EQ(answers.find("a", now), 7);
  now += ms(kRefreshNamesMs + 1);
  EXPECT_EQ(answers.find("a", now), 7);  // and is asked meanwhile
  EXPECT_EQ(asked.size(), 2u);
  answers.failed("a", now);
  EXPECT_EQ(answers.find("a", now), 7);  // what was so holds
  EXPECT_EQ(asked.size(), 2u);
  now += ms(kAskAgainMs + 1);
  EXPECT_EQ(answers.find("a", now), 7);
  EXPECT_EQ(asked.size(), 3u);
}

TEST_F(KnownAnswersTest, WhoWaitsIsResumedByTheAnswer) {
  EXPECT_TRUE(wait());
  EXPECT_TRUE(wait());
  EXPECT_EQ(asked.size(), 1u);
  answers.answer("a", 7, true, now);
  EXPECT_EQ(resumed, 2);
  EXPECT_FALSE(wait());
}

TEST_F(KnownAnswersTest, NobodyWaitsForLongNorTwice) {
  EXPECT_TRUE(wait());
  answers.failed("a", now);
  now += ms(kNameWaitMs - 1);
  answers.tick(now);
  EXPECT_EQ(resumed, 0);
  now += ms(1);
  answers.tick(now);
  EXPECT_EQ(resumed, 1);
  EXPECT_FALSE(wait());
  answers.answer("a", 7, true, now);
  EXPECT_EQ(resumed, 1);
}

TEST_F(KnownAnswersTest, AnIncompleteAnswerIsAskedAgainSoon) {
  EXPECT_FALSE(answers.find("a", now));
  answers.answer("a", 7, false, now);
  now += ms(kAskAgainMs + 1);
  EXPECT_EQ(answers.find("a", now), 7);
  EXPECT_EQ(asked.size(), 2u);
}

TEST_F(KnownAnswersTest, AllAreLetGo) {
  EXPECT_TRUE(wait());
  answers.resume_all();
  EXPECT_EQ(resumed, 1);
}

TEST_F(KnownAnswersTest, ForgetsWhatNobodyUses) {
  for (std::size_t i = 0; i < kKnownAnswersMax; ++i) {
    answers.find(std::to_string(i), now);
    answers.answer(std::to_string(i), 1, true, now);
  }
  EXPECT_FALSE(answers.find("a", now));
  EXPECT_FALSE(wait());
  now += ms(kRefreshNamesMs + 1);
  EXPECT_TRUE(wait());
}

}  // namespace
}  // namespace symnas::plugin
