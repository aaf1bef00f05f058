// Orders of events between mounts that broke promises once; each test keeps back the store's
// replies where that matters.
#include <chrono>
#include <thread>

#include "tests/unit/fsal_cluster/data/heads_world.h"

namespace symnas::fs::test {
namespace {

constexpr Ino kFile{20};
const std::string kA(8192, 'a');
const std::string kB(8192, 'b');

class InterleavingsTest : public ::testing::Test {
 protected:
  static LateReplies::Matches puts(std::string key) {
    return [key = std::move(key)](const kv::Op& op) {
      return op.kind == kv::Op::Kind::kPut && op.range.key == key;
    };
  }
  static LateReplies::Matches erases(std::string key) {
    return [key = std::move(key)](const kv::Op& op) {
      return op.kind == kv::Op::Kind::kDelete && op.range.key == key;
    };
  }
  static LateReplies::Matches reads(std::string prefix) {
    return [prefix = std::move(prefix)](const kv::Op& op) {
      return op.kind == kv::Op::Kind::kRange && op.range.key.starts_with(prefix);
    };
  }
  static std::string token(const Head& head) { return kv::keys::token(kHeadsFs, kFile, head.id()); }
  // Matches reads of a whole table.
  static LateReplies::Matches images(std::string prefix) {
    return [range = kv::prefix_range(prefix)](const kv::Op& op) {
      return op.kind == kv::Op::Kind::kRange && op.range.key == range.key &&
             op.range.end == range.end;
    };
  }
  bool stored(const std::string& key) {
    const auto read = kv::range_blocking(two_.store(), kv::single_key(key), 1, 5000);
    return read.has_value() && !read->kvs.empty();
  }
  bool goes(const std::string& key) {
    for (int i = 0; i < 1000 && stored(key); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return !stored(key);
  }
  // Makes a gap in what the watches show: every session drops its cache and reads again.
  void make_a_gap() {
    const std::string stamp = kv::keys::stamp(kHeadsFs);
    for (const kv::Op& op :
         {kv::erase(stamp), kv::put(stamp, encode_stamp(heads_.clock().wall_ns()))}) {
      kv::Txn txn;
      txn.success = {op};
      ASSERT_TRUE(kv::txn_blocking(two_.store(), txn, 5000));
    }
  }
  void let_flags_fall() { heads_.clock().jump_ns(kWriteFlagHoldNs + 1'000'000'000); }
  // Makes the first head's tick fail to erase an unused token: the store is full at that moment.
  void refuse_to_erase_what_is_unused() {
    heads_.server().set_quota(kv::MemServer::Quota::kFull);
    one_.replies().hold(erases(token(one_)));
    let_flags_fall();
    ASSERT_TRUE(one_.replies().wait_until_held());
    heads_.server().set_quota(kv::MemServer::Quota::kFree);
    one_.replies().release();
    let_it_come();
  }
  // Waits until the operation that is to be blocked has reached that point.
  static void let_it_come() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }
  template <class Call>
  static auto later(Call call) {
    return std::async(std::launch::async, std::move(call));
  }

  HeadsWorld heads_{2};
  Head& one_ = heads_[0];
  Head& two_ = heads_[1];
};

TEST_F(InterleavingsTest, ATokenOnItsWayOutIsNoRightToRead) {
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, kA));
  one_.replies().hold(erases(token(one_)));
  auto committed = later([&] { return one_.commit(kFile); });  // the token goes with it
  ASSERT_TRUE(one_.replies().wait_until_held());
  ASSERT_TRUE(two_.write(kFile, kA.size(), kB, WriteStability::kFileSync));
  auto read = later([&] { return one_.read(kFile, 0, 20'000); });
  auto shown = later([&] { return one_.attributes(kFile); });
  let_it_come();
  one_.replies().release();
  EXPECT_EQ(read.get().value_or("error"), kA + kB);
  EXPECT_EQ(shown.get().size_bytes, kA.size() + kB.size());
  EXPECT_TRUE(committed.get());
}

TEST_F(InterleavingsTest, ATokenOnItsWayOutIsNoRightToSeek) {
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, kA));
  one_.replies().hold(erases(token(one_)));
  auto committed = later([&] { return one_.commit(kFile); });
  ASSERT_TRUE(one_.replies().wait_until_held());
  ASSERT_TRUE(two_.write(kFile, kA.size(), kB, WriteStability::kFileSync));
  auto sought =
      later([&] { return one_.data().seek(one_.handle(kFile), FileOffset{0}, Content::kHole); });
  let_it_come();
  one_.replies().release();
  const auto hole = sought.get();
  ASSERT_TRUE(hole && *hole);
  EXPECT_EQ((*hole)->offset, kA.size() + kB.size());
  EXPECT_TRUE(committed.get());
}

TEST_F(InterleavingsTest, AChunkThatComesLateIsNotOfTheMapOfToday) {
  constexpr std::uint64_t kMiB = 1 << 20;
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, std::string(2 * kMiB, 'a'), WriteStability::kFileSync));
  ASSERT_TRUE(one_.data().flush_all());
  two_.replies().hold(reads(kv::keys::map_prefix(kHeadsFs, kFile, MapGeneration{0})
                                .substr(0, kv::keys::inode(kHeadsFs, kFile).size())));
  auto first = later([&] { return two_.read(kFile, 0, 8192); });
  ASSERT_TRUE(two_.replies().wait_until_held());
  ASSERT_TRUE(one_.set_size(kFile, 0));
  ASSERT_TRUE(one_.write(kFile, kMiB, std::string(kMiB, 'b'), WriteStability::kFileSync));
  ASSERT_TRUE(one_.data().flush_all());
  auto second = later([&] { return two_.read(kFile, 0, 8192); });
  ASSERT_TRUE(two_.replies().wait_until_held(2)) << "the map of now, its chunk not there yet";
  two_.replies().release_one();
  let_it_come();
  two_.replies().release();
  EXPECT_EQ(first.get().value_or("error"), std::string(8192, '\0'));
  EXPECT_EQ(second.get().value_or("error"), std::string(8192, '\0'));
  EXPECT_EQ(two_.read(kFile, 0, 8192).value_or("error"), std::string(8192, '\0'));
}

TEST_F(InterleavingsTest, ARecordFromBeforeTheHoldersCommitIsNotAllThereIs) {
  one_.create(kFile);
  ASSERT_EQ(two_.read(kFile, 0, 20'000).value_or("error"), "");
  ASSERT_TRUE(one_.write(kFile, 0, kA, WriteStability::kFileSync));
  ASSERT_TRUE(one_.write(kFile, kA.size(), kB));  // acknowledged, not recorded
  make_a_gap();
  let_it_come();
  two_.replies().hold(reads(token(two_)));
  auto read = later([&] { return two_.read(kFile, 0, 20'000); });
  ASSERT_TRUE(two_.replies().wait_until_held()) << "the record is another one: it loads the file";
  ASSERT_TRUE(one_.data().flush_all());
  ASSERT_FALSE(stored(token(one_))) << "all is recorded, and the token given back";
  make_a_gap();
  let_it_come();
  two_.replies().release();
  EXPECT_EQ(read.get().value_or("error"), kA + kB);
}

TEST_F(InterleavingsTest, SIsNotMoreForBeingAloneMeanwhile) {
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, kA, WriteStability::kFileSync));
  ASSERT_TRUE(one_.data().flush_all());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(one_.read(kFile, 0, 8192));  // S
  one_.data().turned_sole();
  one_.membership().turn_sole();
  ASSERT_TRUE(one_.write(kFile, kA.size(), kB));
  one_.membership().turn_shared();
  EXPECT_EQ(two_.attributes(kFile).size_bytes, kA.size() + kB.size());
  EXPECT_EQ(two_.read(kFile, 0, 20'000).value_or("error"), kA + kB);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(two_.read(kFile, 0, 8192));  // S, the map stands still
  ASSERT_TRUE(one_.write(kFile, 2 * kA.size(), kA));
  EXPECT_EQ(two_.read(kFile, 0, 30'000).value_or("error"), kA + kB + kA);
}

TEST_F(InterleavingsTest, ACreatedFilesTokenIsNotErasedWhileItIsGranted) {
  one_.create(kFile);
  one_.replies().hold(puts(token(one_)));
  auto written = later([&] { return one_.write(kFile, 0, kA); });
  ASSERT_TRUE(one_.replies().wait_until_held());
  auto flushed = later([&] { return one_.data().flush_all(); });  // erases unused tokens
  let_it_come();
  one_.replies().release();
  EXPECT_TRUE(written.get());
  EXPECT_TRUE(flushed.get());
  EXPECT_EQ(two_.read(kFile, 0, 20'000).value_or("error"), kA);
  ASSERT_TRUE(two_.write(kFile, kA.size(), kB));
  EXPECT_EQ(one_.read(kFile, 0, 20'000).value_or("error"), kA + kB);
}

TEST_F(InterleavingsTest, WhatIsToBePublishedIsNotForgottenByTheCommitUnderWay) {
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, kA, WriteStability::kFileSync));
  ASSERT_TRUE(one_.write(kFile, 0, kA));  // X, in place
  one_.replies().hold(puts(kv::keys::inode(kHeadsFs, kFile)));
  for (std::uint32_t i = 0; i < kChangeCountForce; ++i) ASSERT_TRUE(one_.write(kFile, 0, kA));
  ASSERT_TRUE(one_.replies().wait_until_held()) << "change gets new numbers";
  const std::int64_t before_ns = one_.session().next_time_ns();
  ASSERT_TRUE(one_.write(kFile, 0, kB));
  auto shown = later([&] { return two_.attributes(kFile); });
  let_it_come();
  one_.replies().release();
  EXPECT_GT(shown.get().mtime_ns, before_ns);
}

// The first head gives its S token up while another commit, one of times, waits for that: by its
// turn the file may have grown elsewhere.
TEST_F(InterleavingsTest, ACommitOfTimesThatWaitedForTheTokensEndPutsNoOldSize) {
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, kA + kA, WriteStability::kFileSync));
  ASSERT_TRUE(two_.write(kFile, 0, kB));
  ASSERT_TRUE(one_.write(kFile, kA.size(), kB));  // both have S, and make changes up
  make_a_gap();                                   // records are read from the store again
  let_it_come();
  const auto reads_record = reads(kv::keys::inode(kHeadsFs, kFile));
  one_.replies().hold([reads_record, erased = erases(token(one_))](const kv::Op& op) {
    return reads_record(op) || erased(op);
  });
  auto flushed = later([&] { return one_.data().flush_all(); });
  ASSERT_TRUE(one_.replies().wait_until_held()) << "the commit that will erase the token";
  records::WantRecord publish;
  publish.set_kind(records::WantRecord::PUBLISH);
  publish.set_mount(two_.id().value());
  kv::Mutation asks;
  asks.writes = {kv::put(kv::keys::want(kHeadsFs, kFile), publish.SerializeAsString())};
  ASSERT_TRUE(two_.session().commit_blocking(asks)->succeeded);
  let_it_come();  // the commit of times waits
  one_.replies().release_one();
  ASSERT_TRUE(one_.replies().wait_until_held());
  ASSERT_FALSE(stored(token(one_)));
  ASSERT_TRUE(two_.write(kFile, 2 * kA.size(), kB, WriteStability::kFileSync));
  one_.replies().release();
  EXPECT_TRUE(flushed.get());
  ASSERT_TRUE(goes(kv::keys::want(kHeadsFs, kFile))) << "the commit of times is done";
  EXPECT_EQ(two_.attributes(kFile).size_bytes, 3 * kA.size());
  EXPECT_EQ(one_.attributes(kFile).size_bytes, 3 * kA.size());
  EXPECT_EQ(one_.read(kFile, 0, 30'000).value_or("error"), kB + kB + kB);
}

// Pending writes are recorded first: that commit must not erase the token.
TEST_F(InterleavingsTest, ASizeChangeKeepsTheTokenUntilItIsDone) {
  one_.create(kFile);
  ASSERT_TRUE(one_.write(kFile, 0, kA));
  one_.replies().hold(puts(kv::keys::inode(kHeadsFs, kFile)));
  auto cut = later([&] { return one_.set_size(kFile, 100); });
  ASSERT_TRUE(one_.replies().wait_until_held());
  auto written = later([&] { return two_.write(kFile, kA.size(), kB, WriteStability::kFileSync); });
  EXPECT_EQ(written.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  one_.replies().release();
  EXPECT_TRUE(cut.get());
  EXPECT_TRUE(written.get());
  const std::string expected = kA.substr(0, 100) + std::string(kA.size() - 100, '\0') + kB;
  EXPECT_EQ(two_.read(kFile, 0, 20'000).value_or("error"), expected);
  EXPECT_EQ(one_.read(kFile, 0, 20'000).value_or("error"), expected);
}

// A size change that began as sole needs no token, even if the mount is not sole any more: the
// mounts that join wait for its end.
TEST_F(InterleavingsTest, ASizeChangeBegunAsSoleMountEndsWhileItTurnsShared) {
  one_.create(kFile);
  ASSERT_TRUE(one_.commit(kFile));
  one_.membership().turn_sole();
  one_.replies().hold(puts(kv::keys::inode(kHeadsFs, kFile)));
  auto written = later([&] { return one_.write(kFile, 0, kA, WriteStability::kFileSync); });
  ASSERT_TRUE(one_.replies().wait_until_held());  // the token goes with it
  auto cut = later([&] { return one_.set_size(kFile, 100); });
  let_it_come();
  auto shared = later([&] { one_.membership().turn_shared(); });
  let_it_come();
  one_.replies().release();
  EXPECT_TRUE(written.get());
  EXPECT_TRUE(cut.get());
  shared.get();
  EXPECT_EQ(two_.read(kFile, 0, 20'000).value_or("error"), kA.substr(0, 100));
}

// Whatever the reason for such a token: no other code could give it back.
TEST_F(InterleavingsTest, ATokenThatMemoryDoesNotKnowOfIsGivenBack) {
  one_.create(kFile);
  ASSERT_TRUE(one_.data().flush_all());
  ASSERT_TRUE(one_.read(kFile, 0, 10));
  records::TokenRecord x;
  x.set_mode(records::TokenRecord::X);
  kv::Mutation forgotten;
  forgotten.writes = {kv::put(token(one_), x.SerializeAsString())};
  ASSERT_TRUE(one_.session().commit_blocking(forgotten)->succeeded);
  auto written = later([&] { return two_.write(kFile, 0, kB); });
  const bool granted = written.wait_for(std::chrono::seconds(5)) == std::future_status::ready;
  EXPECT_TRUE(granted);
  if (!granted) {  // let it end
    kv::Mutation erased;
    erased.writes = {kv::erase(token(one_))};
    ASSERT_TRUE(one_.session().commit_blocking(erased)->succeeded);
  }
  EXPECT_TRUE(written.get());
}

// While the watch is lost the cache knows no token, and the file is loaded from the store.
TEST_F(InterleavingsTest, AFileLoadedWithoutTheCacheKnowsTheTokenOfItsCreate) {
  one_.create(kFile);
  one_.replies().hold(images(kv::keys::tokens(kHeadsFs)));
  make_a_gap();
  ASSERT_TRUE(one_.replies().wait_until_held());
  auto committed = later([&] { return one_.commit(kFile); });  // loads it
  EXPECT_TRUE(committed.get());
  one_.replies().release();
  ASSERT_TRUE(one_.data().flush_all());
  EXPECT_FALSE(stored(token(one_))) << "nobody gives it back any more";
}

TEST_F(InterleavingsTest, AFlushWaitsForTokensThatAreBeingErased) {
  one_.create(kFile);
  one_.replies().hold(erases(token(one_)));
  let_flags_fall();
  ASSERT_TRUE(one_.replies().wait_until_held());
  auto flushed = later([&] { return one_.data().flush_all(); });
  let_it_come();
  EXPECT_EQ(flushed.wait_for(std::chrono::seconds(0)), std::future_status::timeout)
      << "it may not have happened";
  one_.replies().release();
  EXPECT_TRUE(flushed.get());
  EXPECT_FALSE(stored(token(one_)));
}

// The flag is still set then, and so is the token: growth under no token would be forgotten.
TEST_F(InterleavingsTest, ATokenThatCouldNotBeErasedIsHeld) {
  one_.membership().turn_sole();
  one_.create(kFile);
  refuse_to_erase_what_is_unused();
  ASSERT_TRUE(one_.write(kFile, 0, kA));
  one_.membership().turn_shared();
  ASSERT_TRUE(one_.write(kFile, kA.size(), kB));
  EXPECT_EQ(two_.read(kFile, 0, 20'000).value_or("error"), kA + kB);
}

// A token that was given back in between may be another mount's: that the erase was refused does
// not say whose it is.
TEST_F(InterleavingsTest, ATokenGivenBackIsNotHeldBecauseItCouldNotBeErased) {
  one_.create(kFile);
  ASSERT_TRUE(two_.write(kFile, 0, kA));
  refuse_to_erase_what_is_unused();
  EXPECT_EQ(one_.read(kFile, 0, 20'000).value_or("error"), kA);
  ASSERT_TRUE(two_.write(kFile, kA.size(), kB, WriteStability::kFileSync));
  EXPECT_EQ(one_.read(kFile, 0, 20'000).value_or("error"), kA + kB);
}

TEST_F(InterleavingsTest, ACreateThatTakesLongLeavesNoToken) {
  kv::Mutation creates;
  creates.writes = one_.data().tokens_at_create(kFile);
  let_flags_fall();
  let_it_come();  // a tick
  ASSERT_TRUE(one_.session().commit_blocking(std::move(creates))->succeeded);
  one_.data().created(kFile);
  let_flags_fall();
  EXPECT_TRUE(goes(token(one_)));
}

}  // namespace
}  // namespace symnas::fs::test
