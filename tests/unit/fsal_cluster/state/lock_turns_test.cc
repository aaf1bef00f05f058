#include "fsal_cluster/state/lock_turns.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <vector>

namespace symnas::fs {
namespace {

std::future<void> ask_for(LockTurns& turns, LockTurns::Lanes lanes) {
  return std::async(std::launch::async, [&turns, lanes] { const LockTurn turn(turns, lanes); });
}
bool gets_it(const std::future<void>& asked) {
  return asked.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
}
bool waits(const std::future<void>& asked) {
  return asked.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout;
}

TEST(LockTurnsTest, OneInodeWaitsAndAnotherDoesNot) {
  LockTurns turns;
  std::future<void> same;
  {
    const LockTurn turn(turns, LockTurns::of(Ino{7}));
    EXPECT_TRUE(gets_it(ask_for(turns, LockTurns::of(Ino{8}))));
    same = ask_for(turns, LockTurns::of(Ino{7}));
    EXPECT_TRUE(waits(same));
  }
  EXPECT_TRUE(gets_it(same));
}

TEST(LockTurnsTest, ATurnOfAllWaitsForEveryInode) {
  LockTurns turns;
  std::future<void> all;
  {
    const LockTurn turn(turns, LockTurns::of(Ino{7}));
    all = ask_for(turns, LockTurns::all());
    EXPECT_TRUE(waits(all));
  }
  EXPECT_TRUE(gets_it(all));
}

TEST(LockTurnsTest, TurnsOfSeveralInodesDoNotWaitInACircle) {
  LockTurns turns;
  const LockOwner owner{LockProtocol::kNfs4, "client a", "anna"};
  const std::vector<LockTable::Key> up{{Ino{7}, owner}, {Ino{8}, owner}, {Ino{7}, owner}};
  const std::vector<LockTable::Key> down{{Ino{8}, owner}, {Ino{7}, owner}};
  EXPECT_EQ(LockTurns::of(up), LockTurns::of(down));
  EXPECT_EQ(LockTurns::of(up).count(), 2u);
  std::vector<std::future<void>> asked;
  for (int i = 0; i < 50; ++i) {
    asked.push_back(ask_for(turns, LockTurns::of(up)));
    asked.push_back(ask_for(turns, LockTurns::of(down)));
    asked.push_back(ask_for(turns, LockTurns::all()));
  }
  for (const std::future<void>& one : asked) EXPECT_TRUE(gets_it(one));
}

}  // namespace
}  // namespace symnas::fs
