// A script stands for symnas-corosync-watch.
#include "ha/detection/corosync/watch.h"

#include <chrono>
#include <functional>
#include <thread>

#include "tests/unit/ha/fencing/script.h"

namespace symnas::ha {
namespace {

constexpr const char* kSays =
    R"(echo '{"nodes":[{"addresses":[],"id":1,"member":true,"name":"c1n1"}],"quorate":true}')";
constexpr CorosyncWatchTimes kSoon = {10, 30'000};

class CorosyncWatchTest : public ScriptTest {
 protected:
  // What is seen when it is as `wanted`, or after a while.
  static CorosyncSight eventually(const CorosyncWatch& watch,
                                  const std::function<bool(const CorosyncSight&)>& wanted) {
    for (int i = 0; i < 2'500; ++i) {
      const CorosyncSight now = watch.sight(kHeads);
      if (wanted(now)) return now;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return watch.sight(kHeads);
  }
  static CorosyncSight error_with(const CorosyncWatch& watch, const std::string& words) {
    return eventually(watch, [&](const CorosyncSight& now) {
      return now.error.find(words) != std::string::npos;
    });
  }
  static bool answers(const CorosyncSight& now) { return now.error.empty(); }

  static inline const CorosyncWitness::Heads kHeads = {{"c1n1", {}}};
};

TEST_F(CorosyncWatchTest, KnowsWhatTheProgramSays) {
  script(std::string(kSays) + "; exec sleep 100");
  const CorosyncWatch watch(program, env::system_clock(), kSoon);
  const CorosyncSight sight = eventually(watch, answers);
  EXPECT_TRUE(sight.quorate);
  EXPECT_EQ(sight.heads.at("c1n1").state, CorosyncState::kMember);
}

TEST_F(CorosyncWatchTest, ForgetsWhenItEnds) {
  const std::string go = directory + "/go";
  script(std::string("if [ -e ") + go + " ]; then echo 'CS_ERR_LIBRARY' >&2; exit 1; fi\n" + kSays +
         "\nwhile [ ! -e " + go + " ]; do sleep 0.01; done");
  const CorosyncWatch watch(program, env::system_clock(), kSoon);
  ASSERT_TRUE(answers(eventually(watch, answers)));
  std::ofstream{go};
  const CorosyncSight sight = error_with(watch, "CS_ERR_LIBRARY");
  EXPECT_EQ(sight.error, "CS_ERR_LIBRARY");
  EXPECT_TRUE(sight.heads.empty());
}

TEST_F(CorosyncWatchTest, IsStartedUntilItAnswers) {
  script("echo x >>" + directory + "/starts; [ $(wc -l <" + directory +
         "/starts) = 3 ] || exit 1\n" + kSays + "\nexec sleep 100");
  const CorosyncWatch watch(program, env::system_clock(), kSoon);
  EXPECT_TRUE(answers(eventually(watch, answers)));
}

TEST_F(CorosyncWatchTest, AMissingProgramIsNamedWithItsPackage) {
  const CorosyncWatch watch(directory + "/none", env::system_clock(), kSoon);
  EXPECT_NE(error_with(watch, "none").error.find("apt-get install symnas-corosync"),
            std::string::npos);
}

TEST_F(CorosyncWatchTest, OddWordsEndIt) {
  script("echo nonsense; exec sleep 100");
  const CorosyncWatch watch(program, env::system_clock(), kSoon);
  EXPECT_NE(error_with(watch, "nonsense").error.find("is no membership"), std::string::npos);
}

TEST_F(CorosyncWatchTest, AProgramThatIsStuckIsKilled) {
  script("exec sleep 100");
  const CorosyncWatch watch(program, env::system_clock(), {10, 50});
  EXPECT_EQ(error_with(watch, "said nothing").error, "said nothing for 0 s");
}

}  // namespace
}  // namespace symnas::ha
