#include "common/base/loop.h"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

namespace symnas {
namespace {

constexpr std::int64_t kHourNs = 3'600'000'000'000;

TEST(Loop, TakesTurnsByItself) {
  std::promise<void> third;
  int turns = 0;
  Loop loop;
  loop.start(0, [&]() -> std::int64_t {
    if (++turns == 3) third.set_value();
    return turns < 3 ? 1 : Loop::kWhenWoken;
  });
  third.get_future().wait();
  loop.stop();
  EXPECT_EQ(turns, 3);
}

TEST(Loop, TakesATurnWhenItIsWoken) {
  for (const std::int64_t first_ns : {kHourNs, Loop::kWhenWoken}) {
    std::promise<void> turned;
    Loop loop;
    loop.start(first_ns, [&] {
      turned.set_value();
      return Loop::kNever;
    });
    loop.wake();
    turned.get_future().wait();
  }
}

TEST(Loop, AWakeBeforeTheStartCounts) {
  std::promise<void> turned;
  Loop loop;
  loop.wake();
  loop.start(Loop::kWhenWoken, [&] {
    turned.set_value();
    return Loop::kNever;
  });
  turned.get_future().wait();
}

TEST(Loop, AWakeDuringATurnIsNotLost) {
  std::promise<void> second;
  int turns = 0;
  Loop loop;
  loop.start(0, [&] {
    if (++turns == 1) loop.wake();
    if (turns == 2) second.set_value();
    return Loop::kWhenWoken;
  });
  second.get_future().wait();
  loop.stop();
  EXPECT_EQ(turns, 2);
}

TEST(Loop, NoTurnBeginsAfterTheStop) {
  std::atomic<int> turns = 0;
  Loop loop;
  loop.start(kHourNs, [&] {
    ++turns;
    return kHourNs;
  });
  EXPECT_FALSE(loop.stopping());
  loop.stop();
  EXPECT_TRUE(loop.stopping());
  loop.wake();
  loop.stop();
  EXPECT_EQ(turns, 0);
}

TEST(Loop, ATurnThatWaitsIsToldOfTheStop) {
  std::promise<void> began;
  std::atomic<bool> told = false;
  Loop loop;
  loop.start(0, [&] {
    EXPECT_FALSE(loop.stopped_within(1));
    began.set_value();
    loop.wake();  // ends no such wait
    told = loop.stopped_within(kHourNs);
    return kHourNs;
  });
  began.get_future().wait();
  loop.stop();
  EXPECT_TRUE(told);
}

TEST(Loop, WithoutAThreadThereIsNothingToStop) {
  Loop loop;
  loop.wake();
  loop.stop();
}

}  // namespace
}  // namespace symnas
