#include "fsal_cluster/data/file_loader.h"

#include <memory>

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

constexpr std::uint64_t kGroupBlocks = 64;

Detached note(Turn& turn, bool& had) {
  co_await turn;
  had = true;
}

class LeaveTest : public testing::Test {
 protected:
  bool shared(Turn& turn) {
    const MutexLock lock(f->mutex);
    return f->io_lock.acquire_shared(waiter_id(turn));
  }
  bool exclusive(Turn& turn) {
    const MutexLock lock(f->mutex);
    return f->io_lock.acquire_exclusive(waiter_id(turn));
  }

  const FilePtr f = std::make_shared<FileState>(Ino{7}, kGroupBlocks, 1);
};

TEST_F(LeaveTest, TheLastOfManyWakesWhoWantsTheFileAlone) {
  Turn one, two, alone;
  bool had = false;
  ASSERT_TRUE(shared(one));
  ASSERT_TRUE(shared(two));
  ASSERT_FALSE(exclusive(alone));
  note(alone, had);
  leave_shared(*f);
  EXPECT_FALSE(had);
  leave_shared(*f);
  EXPECT_TRUE(had);
}

TEST_F(LeaveTest, WhoHadTheFileAloneWakesAllOthers) {
  Turn alone, one, two;
  bool had_one = false;
  bool had_two = false;
  ASSERT_TRUE(exclusive(alone));
  ASSERT_FALSE(shared(one));
  ASSERT_FALSE(shared(two));
  note(one, had_one);
  note(two, had_two);
  leave_exclusive(*f);
  EXPECT_TRUE(had_one);
  EXPECT_TRUE(had_two);
}

}  // namespace
}  // namespace symnas::fs
