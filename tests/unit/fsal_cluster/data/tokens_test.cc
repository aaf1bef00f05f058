// Files that several mounts read and write at the same time.
#include <thread>

#include "tests/unit/fsal_cluster/data/heads_world.h"

namespace symnas::fs::test {
namespace {

constexpr Ino kFile{20};
const std::string kA(8192, 'a');
const std::string kB(8192, 'b');

class TokensTest : public ::testing::Test {
 protected:
  HeadsWorld heads_{2};
  Head& one_ = heads_[0];
  Head& two_ = heads_[1];

  // A file that the first head has written in place and given back; the second head has seen that.
  std::vector<records::FileInUse> in_use_by_one() {
    one_.create(kFile);
    EXPECT_TRUE(one_.write(kFile, 0, kA, WriteStability::kFileSync));
    EXPECT_TRUE(one_.write(kFile, 0, kB));
    auto in_use = one_.data().files_in_use();
    EXPECT_TRUE(one_.data().flush_all());
    EXPECT_TRUE(two_.session().barrier());
    return in_use;
  }
};

TEST_F(TokensTest, WhatOneHasAcknowledgedTheOtherReads) {
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, kA)) << "UNSTABLE: its size is in the first head's memory only";
  EXPECT_EQ(two_.read(kFile, 0, 20'000).value_or("error"), kA);
  EXPECT_EQ(two_.attributes(kFile).size_bytes, kA.size());
  ASSERT_TRUE(one_.write(kFile, kA.size(), kB));
  EXPECT_EQ(two_.read(kFile, kA.size(), 20'000).value_or("error"), kB);
  EXPECT_EQ(two_.attributes(kFile).size_bytes, 2 * kA.size());
}

TEST_F(TokensTest, WritersInPlaceShareAFileWithoutTheStore) {
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, std::string(64 << 10, '0'), WriteStability::kFileSync));
  ASSERT_TRUE(two_.write(kFile, 0, kB));
  ASSERT_TRUE(one_.write(kFile, 8192, kA));
  ASSERT_TRUE(two_.write(kFile, 0, kB));
  const auto before = heads_.server().revision();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(one_.write(kFile, 8192, kA));
    ASSERT_TRUE(two_.write(kFile, 0, kB));
    EXPECT_EQ(two_.read(kFile, 8192, 8192).value_or("error"), kA);
    EXPECT_EQ(one_.read(kFile, 0, 8192).value_or("error"), kB);
  }
  EXPECT_EQ(heads_.server().revision(), before);
}

TEST_F(TokensTest, GrowthMovesFromHeadToHead) {
  one_.create(kFile);
  std::string all;
  for (int i = 0; i < 12; ++i) {
    Head& head = i % 2 == 0 ? one_ : two_;
    const std::string bytes(1000, static_cast<char>('a' + i));
    ASSERT_TRUE(head.write(kFile, all.size(), bytes));
    all += bytes;
    EXPECT_EQ(head.attributes(kFile).size_bytes, all.size());
  }
  EXPECT_EQ(one_.read(kFile, 0, 1 << 20).value_or("error"), all);
  EXPECT_EQ(two_.read(kFile, 0, 1 << 20).value_or("error"), all);
}

TEST_F(TokensTest, TruncateTakesTheFileFromItsWriters) {
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, kA));
  ASSERT_TRUE(two_.set_size(kFile, 100));
  EXPECT_EQ(one_.attributes(kFile).size_bytes, 100u);
  EXPECT_EQ(one_.read(kFile, 0, 8192).value_or("error"), kA.substr(0, 100));
  ASSERT_TRUE(one_.set_size(kFile, 200));
  EXPECT_EQ(two_.read(kFile, 0, 8192).value_or("error"),
            kA.substr(0, 100) + std::string(100, '\0'));
}

TEST_F(TokensTest, ReadersThatComeOftenTakeATokenAndGiveItBack) {
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, kA));
  ASSERT_TRUE(one_.commit(kFile));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(two_.read(kFile, 0, 8192).value_or("error"), kA);
  const auto before = two_.session().counters().barriers;
  EXPECT_EQ(two_.read(kFile, 0, 20'000).value_or("error"), kA);
  EXPECT_EQ(two_.session().counters().barriers, before) << "a token, no barrier";
  ASSERT_TRUE(one_.write(kFile, 8192, kB, WriteStability::kFileSync));
  EXPECT_EQ(two_.read(kFile, 0, 20'000).value_or("error"), kA + kB);
}

TEST_F(TokensTest, ChangeMovesWhileAnotherHeadWritesInPlace) {
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, kA, WriteStability::kFileSync));
  ASSERT_TRUE(one_.write(kFile, 0, kA));
  ASSERT_TRUE(two_.write(kFile, 0, kB)) << "it has to ask, and so takes S";
  std::uint64_t last = 0;
  std::int64_t last_ctime_ns = 0;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(two_.write(kFile, 0, kB));
    const Attributes now = one_.attributes(kFile);
    EXPECT_GT(now.change, last);
    EXPECT_GE(now.ctime_ns, last_ctime_ns);
    last = now.change;
    last_ctime_ns = now.ctime_ns;
  }
  ASSERT_TRUE(two_.data().flush_all());
  const Attributes settled = one_.attributes(kFile);
  EXPECT_GT(settled.change, last) << "a recorded change is above every made-up one";
  EXPECT_GE(settled.ctime_ns, last_ctime_ns);
  EXPECT_EQ(one_.attributes(kFile).change, settled.change);
}

TEST_F(TokensTest, ChangeMovesWhileAnotherHeadHasTheFileAlone) {
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, kA, WriteStability::kFileSync));
  ASSERT_TRUE(one_.data().flush_all());
  // A write that finds a token in the way has to ask, and takes S.
  for (int i = 0; i < 2000 && two_.tokens().sight(kFile).foreign; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_TRUE(two_.write(kFile, 0, kB));
  std::uint64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(two_.write(kFile, 0, kB));
    const Attributes now = one_.attributes(kFile);
    EXPECT_GT(now.change, last);
    last = now.change;
    EXPECT_EQ(one_.attributes(kFile).change, last) << "nothing was written since";
  }
}

TEST_F(TokensTest, AFileThatWasCreatedAndNotWrittenIsGivenBackToo) {
  one_.create(kFile);
  ASSERT_TRUE(two_.write(kFile, 0, kB));
  EXPECT_EQ(one_.read(kFile, 0, 20'000).value_or("error"), kB);
}

TEST_F(TokensTest, ATokenThatNobodyUsesGoesBack) {
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, kA));
  ASSERT_TRUE(one_.data().flush_all());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(two_.read(kFile, 0, 8192));
  ASSERT_TRUE(two_.session().barrier());
  ASSERT_TRUE(one_.session().barrier());
  EXPECT_TRUE(one_.tokens().sight(kFile).foreign);
  for (int i = 0; i < 100 && one_.tokens().sight(kFile).foreign; ++i) {
    heads_.clock().jump_ns(kTokenIdleNs);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(one_.tokens().sight(kFile).foreign);
  EXPECT_EQ(two_.read(kFile, 0, 8192).value_or("error"), kA);
}

TEST_F(TokensTest, WhatOneHadInUseTheOtherFetches) {
  const auto in_use = in_use_by_one();
  ASSERT_EQ(in_use.size(), 1u);
  EXPECT_EQ(Ino{in_use[0].ino()}, kFile);
  EXPECT_TRUE(in_use[0].token() && in_use[0].wrote());
  two_.data().fetch(in_use);
  two_.data().stop_fetching();
  const auto before = heads_.server().revision();
  const auto barriers = two_.session().counters().barriers;
  EXPECT_EQ(two_.read(kFile, 0, 8192).value_or("error"), kB);
  EXPECT_EQ(two_.session().counters().barriers, barriers) << "everything was there";
  EXPECT_EQ(heads_.server().revision(), before);
  ASSERT_TRUE(two_.write(kFile, 0, kA));
  EXPECT_EQ(one_.read(kFile, 0, 8192).value_or("error"), kA);
}

TEST_F(TokensTest, WhatIsOnlyFetchedKeepsItsTimes) {
  const auto in_use = in_use_by_one();
  const Attributes before = one_.attributes(kFile);
  const auto revision = heads_.server().revision();
  two_.data().fetch(in_use);
  two_.data().stop_fetching();
  EXPECT_GT(heads_.server().revision(), revision);
  ASSERT_TRUE(two_.data().flush_all());
  EXPECT_EQ(one_.attributes(kFile).mtime_ns, before.mtime_ns);
  EXPECT_EQ(one_.attributes(kFile).change, before.change);
  EXPECT_FALSE(one_.tokens().sight(kFile).foreign) << "given back as every other one";
  two_.data().fetch(in_use);
  EXPECT_FALSE(one_.tokens().sight(kFile).foreign) << "none begins any more";
}

TEST_F(TokensTest, NothingIsTakenFromAnybodyToBeFetched) {
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, kA, WriteStability::kFileSync));
  ASSERT_TRUE(two_.session().barrier());
  const auto before = heads_.server().revision();
  two_.data().fetch(one_.data().files_in_use());
  EXPECT_EQ(one_.read(kFile, 0, 8192).value_or("error"), kA);
  EXPECT_EQ(heads_.server().revision(), before) << "no want, no grant";
  records::FileInUse gone;
  gone.set_ino(99);
  gone.set_generation(1);
  gone.set_token(true);
  two_.data().fetch({gone});
  EXPECT_EQ(two_.read(kFile, 0, 8192).value_or("error"), kA);
}

TEST_F(TokensTest, ALivingMountIsNotRecovered) {
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, kA));
  EXPECT_FALSE(two_.data().recover_ended_mount(one_.id()));
  ASSERT_TRUE(one_.write(kFile, 8192, kB));
  EXPECT_EQ(two_.read(kFile, 0, 20'000).value_or("error"), kA + kB);
}

TEST_F(TokensTest, ManyWantTheSameFile) {
  one_.create(kFile);
  std::vector<std::thread> threads;
  for (std::size_t head = 0; head < 2; ++head) {
    for (int client = 0; client < 3; ++client) {
      threads.emplace_back([&, head, client] {
        const std::string mine(700, static_cast<char>('a' + static_cast<int>(head) * 3 + client));
        const std::uint64_t at = (head * 3 + static_cast<std::uint64_t>(client)) * 700;
        for (int i = 0; i < 15; ++i) {
          ASSERT_TRUE(heads_[head].write(kFile, at, mine));
          EXPECT_EQ(heads_[head].read(kFile, at, 700).value_or("error"), mine);
          EXPECT_GE(heads_[head].attributes(kFile).size_bytes, at + 700);
          if (i % 5 == 4) {
            ASSERT_TRUE(heads_[head].commit(kFile));
          }
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  std::string all;
  for (int i = 0; i < 6; ++i) all += std::string(700, static_cast<char>('a' + i));
  EXPECT_EQ(one_.read(kFile, 0, 1 << 20).value_or("error"), all);
}

}  // namespace
}  // namespace symnas::fs::test
