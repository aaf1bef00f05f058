#include "common/kv/applied_waiters.h"

#include <gtest/gtest.h>

#include <string>

namespace symnas::kv {
namespace {

TEST(AppliedWaiters, WaitForTheirRevision) {
  AppliedWaiters waiters;
  waiters.follow(Revision(10));
  std::string ran;
  waiters.wait_for(Revision(12), [&] { ran += 'b'; });
  waiters.wait_for(Revision(11), [&] { ran += 'a'; });
  waiters.wait_for(Revision(10), [&] { ran += '0'; });
  EXPECT_EQ(ran, "0");
  waiters.advance(Revision(11));
  EXPECT_EQ(ran, "0a");
  waiters.advance(Revision(20));
  EXPECT_EQ(ran, "0ab");
}

TEST(AppliedWaiters, AnEmptyCacheServesAsWell) {
  AppliedWaiters waiters;
  int runs = 0;
  waiters.wait_for(Revision(12), [&] { ++runs; });
  EXPECT_EQ(runs, 1);
  waiters.follow(Revision(10));
  waiters.wait_for(Revision(12), [&] { ++runs; });
  EXPECT_EQ(runs, 1);
  for (auto& action : waiters.drop()) action();
  EXPECT_EQ(runs, 2);
  waiters.follow(Revision(11));
  waiters.wait_for(Revision(12), [&] { ++runs; });
  EXPECT_EQ(runs, 2) << "the new watch has to deliver it";
}

}  // namespace
}  // namespace symnas::kv
