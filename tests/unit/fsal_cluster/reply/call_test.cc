#include "fsal_cluster/reply/call.h"

#include <gtest/gtest.h>

#include <thread>

namespace symnas::fs {
namespace {

const Call kCall{.client = std::string(16, 'c'), .xid = 7, .checksum = 9, .operation = 2};

TEST(CallTest, ACallLastsAsLongAsItsScope) {
  EXPECT_EQ(call_in_progress(), nullptr);
  {
    const CallScope scope(kCall);
    ASSERT_NE(call_in_progress(), nullptr);
    EXPECT_EQ(call_in_progress()->call, kCall);
  }
  EXPECT_EQ(call_in_progress(), nullptr);
  const CallScope none(std::nullopt);
  EXPECT_EQ(call_in_progress(), nullptr);
}

TEST(CallTest, OtherThreadsWorkForOthers) {
  const CallScope scope(kCall);
  bool seen = true;
  std::thread([&] { seen = call_in_progress() != nullptr; }).join();
  EXPECT_FALSE(seen);
}

}  // namespace
}  // namespace symnas::fs
