#include "fsal_cluster/data/file_flags.h"

#include <memory>
#include <optional>

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

constexpr std::uint64_t kGroupBlocks = 64;

template <class T>
Detached keep(Task<T> task, std::optional<T>& answer) {
  answer = co_await task;
}

class FileFlagsTest : public testing::Test {
 protected:
  void set_flag() {
    const MutexLock lock(f->mutex);
    f->flag.adopt(1);
  }
  void begin() {
    const MutexLock lock(f->mutex);
    f->flag.begin_drop();
  }
  // As a transaction that erases the token ends.
  void end(bool erased) {
    std::vector<WaiterId> waiters;
    {
      const MutexLock lock(f->mutex);
      f->flag.drop_done(erased, 2);
      waiters.swap(f->flag_waiters);
    }
    wake(waiters);
  }
  WriteFlag::State state() {
    const MutexLock lock(f->mutex);
    return f->flag.state();
  }

  const FilePtr f = std::make_shared<FileState>(Ino{7}, kGroupBlocks, 1);
};

TEST_F(FileFlagsTest, NobodyWaitsForAFlagThatIsNotBeingDropped) {
  std::optional<Woken> clear;
  keep(dropped_flag(*f), clear);
  EXPECT_TRUE(clear);
  set_flag();
  std::optional<Woken> set;
  keep(dropped_flag(*f), set);
  EXPECT_TRUE(set);
}

TEST_F(FileFlagsTest, EverybodyWaitsForTheEndOfADrop) {
  set_flag();
  begin();
  std::optional<Woken> one;
  std::optional<Woken> two;
  keep(dropped_flag(*f), one);
  keep(dropped_flag(*f), two);
  EXPECT_FALSE(one);
  EXPECT_FALSE(two);
  end(true);
  EXPECT_TRUE(one);
  EXPECT_TRUE(two);
}

TEST_F(FileFlagsTest, ADropBeginsWhenTheFlagIsSet) {
  std::optional<Drop> nothing;
  keep(begin_drop(*f), nothing);
  EXPECT_EQ(nothing, Drop::kNothing);
  set_flag();
  std::optional<Drop> begun;
  keep(begin_drop(*f), begun);
  EXPECT_EQ(begun, Drop::kBegun);
  EXPECT_EQ(state(), WriteFlag::State::kDropping);
}

TEST_F(FileFlagsTest, ASecondDropWaitsForTheFirst) {
  set_flag();
  begin();
  std::optional<Drop> second;
  keep(begin_drop(*f), second);
  EXPECT_FALSE(second);
  end(false);  // refused: the flag is still set, and the second one drops it
  EXPECT_EQ(second, Drop::kBegun);
  EXPECT_EQ(state(), WriteFlag::State::kDropping);
}

TEST_F(FileFlagsTest, ATokenThatIsGoneBeginsAnotherLife) {
  const MutexLock lock(f->mutex);
  f->token.mode = TokenMode::kExclusive;
  f->record.loaded_at = Revision{9};
  const std::uint64_t life = f->life;
  token_gone(*f);
  EXPECT_EQ(f->token.mode, TokenMode::kNone);
  EXPECT_EQ(f->record.loaded_at, Revision{0});
  EXPECT_NE(f->life, life);
}

}  // namespace
}  // namespace symnas::fs
