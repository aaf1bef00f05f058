#include "fsal_cluster/state/foreign_waits.h"

#include <gtest/gtest.h>

#include "fsal_cluster/state/lock_waits.h"
#include "fsal_cluster/state/lock_waits.pb.h"

namespace symnas::fs {
namespace {

constexpr FsId kFs{7};
constexpr Ino kFile{18};

LockRange exclusive(std::uint64_t start, std::uint64_t end) {
  return {start, end, LockMode::kExclusive};
}

class ForeignWaitsTest : public ::testing::Test {
 protected:
  static kv::KeyValue record(const std::string& vnfs, const std::string& who,
                             const LockRange& range, std::int64_t created,
                             std::uint32_t called = 0) {
    LockWait wait;
    wait.ino = kFile;
    wait.owner = {LockProtocol::kNfs4, "client", who};
    wait.range = range;
    records::LockWait value;
    EXPECT_TRUE(value.ParseFromString(to_wait_record(vnfs, wait)));
    value.set_called(called);
    return {lock_wait_key(kFs, vnfs, wait), value.SerializeAsString(), Revision{created},
            Revision{created + called}, 1 + called};
  }
  void show(const kv::KeyValue& kv, bool deleted = false) {
    kv::WatchEvent event;
    event.kv = kv;
    event.deleted = deleted;
    waits_.on_events({event}, kv.mod_revision);
  }
  void pass_ns(std::int64_t ns) { clock_.advance_ns(ns); }

  env::ManualClock clock_;
  ForeignWaits waits_{clock_, kFs, "v1"};
};

TEST_F(ForeignWaitsTest, WhoWaitsLongerElsewhereIsServedFirst) {
  show(record("v2", "anna", exclusive(0, 9), 20));
  EXPECT_TRUE(waits_.older(kFile, exclusive(9, 9), std::nullopt)) << "it does not wait yet";
  EXPECT_TRUE(waits_.older(kFile, exclusive(0, 9), Revision{21}));
  EXPECT_FALSE(waits_.older(kFile, exclusive(0, 9), Revision{19}));
  EXPECT_FALSE(waits_.older(kFile, exclusive(10, 19), std::nullopt));
  EXPECT_FALSE(waits_.older(Ino{19}, exclusive(0, 9), std::nullopt));
  show(record("v2", "anna", exclusive(0, 9), 20), true);
  EXPECT_FALSE(waits_.older(kFile, exclusive(0, 9), std::nullopt));
}

TEST_F(ForeignWaitsTest, SharedWaitsStandInTheWayOfExclusiveOnesOnly) {
  show(record("v2", "anna", {0, 9, LockMode::kShared}, 20));
  EXPECT_FALSE(waits_.older(kFile, {0, 9, LockMode::kShared}, std::nullopt));
  EXPECT_TRUE(waits_.older(kFile, exclusive(0, 9), std::nullopt));
}

TEST_F(ForeignWaitsTest, OnesOwnVnfsIsNotForeign) {
  show(record("v1", "anna", exclusive(0, 9), 20));
  EXPECT_FALSE(waits_.older(kFile, exclusive(0, 9), std::nullopt));
  EXPECT_FALSE(waits_.any_on(kFile));
}

TEST_F(ForeignWaitsTest, NobodyYieldsForLongToOneThatDoesNotCome) {
  show(record("v2", "anna", exclusive(0, 9), 20));
  pass_ns(5 * kYieldNs);
  EXPECT_TRUE(waits_.older(kFile, exclusive(0, 9), std::nullopt)) << "counted from the first time";
  pass_ns(kYieldNs - 1);
  EXPECT_TRUE(waits_.older(kFile, exclusive(0, 9), std::nullopt));
  pass_ns(1);
  EXPECT_FALSE(waits_.older(kFile, exclusive(0, 9), std::nullopt));
  show(record("v2", "anna", exclusive(0, 9), 20, 1));
  EXPECT_FALSE(waits_.older(kFile, exclusive(0, 9), std::nullopt)) << "it was only called";
  show(record("v2", "anna", exclusive(0, 9), 30));
  EXPECT_TRUE(waits_.older(kFile, exclusive(0, 9), std::nullopt)) << "it waits anew";
}

TEST_F(ForeignWaitsTest, NobodyYieldsToOneWaitAfterAnotherOfAVnfsThatIsAway) {
  show(record("v2", "anna", exclusive(0, 9), 20));
  show(record("v2", "bert", exclusive(0, 9), 21));
  show(record("v2", "carl", exclusive(0, 9), 22));
  EXPECT_TRUE(waits_.older(kFile, exclusive(0, 9), std::nullopt));
  pass_ns(kYieldNs);
  EXPECT_FALSE(waits_.older(kFile, exclusive(0, 9), std::nullopt));
  EXPECT_FALSE(waits_.older(kFile, exclusive(0, 9), Revision{23}));
  show(record("v3", "dora", exclusive(0, 9), 24));
  EXPECT_TRUE(waits_.older(kFile, exclusive(0, 9), std::nullopt)) << "another VNFS's turn";
  pass_ns(kYieldNs);
  EXPECT_FALSE(waits_.older(kFile, exclusive(0, 9), std::nullopt));
  show(record("v2", "anna", exclusive(0, 9), 20), true);
  EXPECT_TRUE(waits_.older(kFile, exclusive(0, 9), std::nullopt)) << "v2 is there";
  pass_ns(kYieldNs);
  EXPECT_FALSE(waits_.older(kFile, exclusive(0, 9), std::nullopt));
}

TEST_F(ForeignWaitsTest, TheOldestIsCalledAndNotAgainAtOnce) {
  show(record("v2", "anna", exclusive(0, 9), 20));
  show(record("v3", "bert", exclusive(0, 9), 19));
  const auto next = waits_.next(kFile, std::nullopt);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->key, record("v3", "bert", exclusive(0, 9), 19).key);
  EXPECT_EQ(next->revision, Revision{19});
  EXPECT_FALSE(waits_.next(kFile, std::nullopt));
  show(record("v3", "bert", exclusive(0, 9), 19), true);
  EXPECT_TRUE(waits_.next(kFile, std::nullopt));
}

TEST_F(ForeignWaitsTest, NobodyIsCalledBeforeAnOlderOneOfThisVnfs) {
  show(record("v2", "anna", exclusive(0, 9), 20));
  EXPECT_FALSE(waits_.next(kFile, Revision{19}));
  EXPECT_TRUE(waits_.next(kFile, Revision{21}));
}

TEST_F(ForeignWaitsTest, WhoIsCalledLooks) {
  int calls = 0;
  waits_.on_called([&] { ++calls; });
  show(record("v1", "anna", exclusive(0, 9), 20));
  show(record("v2", "bert", exclusive(0, 9), 21, 1));
  EXPECT_EQ(calls, 0);
  show(record("v1", "anna", exclusive(0, 9), 20, 1));
  EXPECT_EQ(calls, 1);
  waits_.on_lost();
  EXPECT_FALSE(waits_.any_on(kFile));
  waits_.on_image({record("v2", "bert", exclusive(0, 9), 21)}, Revision{30});
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(waits_.any_on(kFile));
}

}  // namespace
}  // namespace symnas::fs
