#include "fsal_cluster/data/running.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

// Runs `wait` on a thread of its own; `end` is what it waits for.
template <class Wait, class End>
void expect_waits(Wait wait, End end) {
  std::atomic<bool> over{false};
  std::thread waiting([&] {
    wait();
    over = true;
  });
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  EXPECT_FALSE(over);
  end();
  waiting.join();
}

TEST(Running, NothingIsNotWaitedFor) {
  Running running;
  { const RunningOperation over(running); }
  { const RunningErase over(running); }
  running.wait_for_operations();
  running.wait_for_erases();
  running.stop_fetching();
}

TEST(Running, OperationsAreWaitedForToTheLast) {
  Running running;
  running.begin_operation();
  running.begin_operation();
  running.end_operation();
  expect_waits([&] { running.wait_for_operations(); }, [&] { running.end_operation(); });
}

TEST(Running, EachKindIsWaitedForByItself) {
  Running running;
  const RunningOperation operation(running);
  running.wait_for_erases();
  running.begin_erase();
  running.stop_fetching();
  expect_waits([&] { running.wait_for_erases(); }, [&] { running.end_erase(); });
}

TEST(Running, NoFetchBeginsOnceTheyAreStopped) {
  Running running;
  ASSERT_TRUE(running.begin_fetch());
  expect_waits([&] { running.stop_fetching(); }, [&] { running.end_fetch(); });
  EXPECT_FALSE(running.begin_fetch());
}

}  // namespace
}  // namespace symnas::fs
