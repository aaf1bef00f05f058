#include "common/kv/timer_queue.h"

#include <gtest/gtest.h>

namespace symnas::kv {
namespace {

TEST(TimerQueue, RunsWhatIsDueInOrderAndSaysWhatIsNext) {
  int wakes = 0;
  TimerQueue timers([&wakes] { ++wakes; });
  std::string ran;
  timers.add(30, [&] { ran += 'c'; });
  timers.add(10, [&] { ran += 'a'; });
  timers.add(20, [&] { ran += 'b'; });
  EXPECT_EQ(wakes, 2) << "only a deadline earlier than all others wakes";
  EXPECT_EQ(timers.run_due(20), 30);
  EXPECT_EQ(ran, "ab");
  EXPECT_EQ(timers.run_due(30), std::nullopt);
  EXPECT_EQ(ran, "abc");
}

TEST(TimerQueue, AnActionMayAddAnother) {
  TimerQueue timers(nullptr);
  int runs = 0;
  timers.add(10, [&] { timers.add(11, [&] { ++runs; }); });
  EXPECT_EQ(timers.run_due(10), 11);
  EXPECT_EQ(runs, 0);
  timers.run_due(11);
  EXPECT_EQ(runs, 1);
}

TEST(TimerQueue, ClosedItRunsEverythingAtOnce) {
  TimerQueue timers(nullptr);
  int runs = 0;
  timers.add(1000, [&] { ++runs; });
  timers.close();
  EXPECT_EQ(runs, 1);
  timers.add(1000, [&] { ++runs; });
  EXPECT_EQ(runs, 2);
}

}  // namespace
}  // namespace symnas::kv
