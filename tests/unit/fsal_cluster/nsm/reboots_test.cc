#include "fsal_cluster/nsm/reboots.h"

#include <gtest/gtest.h>

#include <future>

#include "fsal_cluster/nsm/limits.h"

namespace symnas::nsm {
namespace {

TEST(RebootsTest, TheClientIsAnsweredWhenItsLocksAreReleased) {
  std::atomic<bool> released{false};
  std::promise<bool> answered;
  Reboots reboots([&](const Reboot& reboot) -> Status {
    EXPECT_EQ(reboot, (Reboot{"10.0.0.202", 5}));
    released = true;
    return {};
  });
  reboots.add({"10.0.0.202", 5}, [&] { answered.set_value(released.load()); });
  EXPECT_TRUE(answered.get_future().get());
}

TEST(RebootsTest, WhatFailsIsNotAnsweredAndMayBeAskedAgain) {
  std::atomic<int> tries{0};
  std::promise<void> answered;
  Reboots reboots([&](const Reboot&) -> Status {
    if (++tries == 1) return fail(ErrorCode::kUnavailable, "not now");
    return {};
  });
  reboots.add({"10.0.0.202", 5}, [] { ADD_FAILURE() << "its locks are not released"; });
  while (tries == 0) std::this_thread::yield();
  // The first item may still be on its way out of the queue: then its repetition is ignored.
  auto done = answered.get_future();
  std::once_flag once;
  while (done.wait_for(std::chrono::milliseconds(0)) != std::future_status::ready)
    reboots.add({"10.0.0.202", 5}, [&] { std::call_once(once, [&] { answered.set_value(); }); });
  EXPECT_GE(tries.load(), 2);
}

TEST(RebootsTest, WhatWaitsAlreadyOrIsTooMuchIsLeftToARepetition) {
  std::promise<void> go;
  const std::shared_future<void> may_go = go.get_future().share();
  std::atomic<int> answered{0};
  std::atomic<int> releases{0};
  {
    Reboots reboots([&](const Reboot&) -> Status {
      may_go.wait();
      ++releases;
      return {};
    });
    for (int twice = 0; twice < 2; ++twice)
      for (std::size_t i = 0; i < kRebootsMax + 5; ++i)
        reboots.add({std::to_string(i), 5}, [&] { ++answered; });
    go.set_value();
    while (answered < static_cast<int>(kRebootsMax)) std::this_thread::yield();
  }
  EXPECT_EQ(releases.load(), static_cast<int>(kRebootsMax));
  EXPECT_EQ(answered.load(), static_cast<int>(kRebootsMax));
}

}  // namespace
}  // namespace symnas::nsm
