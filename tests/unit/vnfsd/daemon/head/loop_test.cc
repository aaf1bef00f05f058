#include "vnfsd/daemon/head/loop.h"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

namespace symnas::vnfsd::daemon {
namespace {

constexpr std::int64_t kNeverMs = 3'600'000;

TEST(LoopTest, TakesATurnWhenItIsWoken) {
  std::stop_source end;
  std::promise<void> turned;
  Loop loop(end.get_token());
  loop.start(kNeverMs, [&] { turned.set_value(); });
  loop.wake();
  turned.get_future().wait();
  end.request_stop();
  loop.join();
}

TEST(LoopTest, TakesTurnsByItself) {
  std::stop_source end;
  std::promise<void> third;
  int turns = 0;
  Loop loop(end.get_token());
  loop.start(1, [&] {
    if (++turns == 3) third.set_value();
  });
  third.get_future().wait();
  end.request_stop();
  loop.join();
  EXPECT_GE(turns, 3);
}

TEST(LoopTest, AWakeDuringATurnIsNotLost) {
  std::stop_source end;
  std::promise<void> second;
  int turns = 0;
  Loop loop(end.get_token());
  loop.start(kNeverMs, [&] {
    if (++turns == 1) loop.wake();
    if (turns == 2) second.set_value();
  });
  loop.wake();
  second.get_future().wait();
  end.request_stop();
  loop.join();
  EXPECT_EQ(turns, 2);
}

TEST(LoopTest, NoTurnBeginsAfterTheEnd) {
  std::stop_source end;
  std::atomic<int> turns = 0;
  Loop loop(end.get_token());
  end.request_stop();
  loop.start(0, [&] { ++turns; });
  loop.wake();
  loop.join();
  EXPECT_EQ(turns, 0);
}

TEST(LoopTest, TheEndWaitsForTheTurnUnderWay) {
  std::stop_source end;
  std::promise<void> begun;
  std::promise<void> go;
  std::atomic<bool> done = false;
  Loop loop(end.get_token());
  loop.start(kNeverMs, [&] {
    begun.set_value();
    go.get_future().wait();
    done = true;
  });
  loop.wake();
  begun.get_future().wait();
  end.request_stop();
  go.set_value();
  loop.join();
  EXPECT_TRUE(done);
}

TEST(LoopTest, OneThatWasNotStartedEnds) {
  std::stop_source end;
  const Loop loop(end.get_token());
}

}  // namespace
}  // namespace symnas::vnfsd::daemon
