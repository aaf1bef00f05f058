#include "fsal_cluster/reply/replies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kv/reply_keys.h"
#include "fsal_cluster/ops/lookup.h"
#include "fsal_cluster/ops/mkdir.h"
#include "fsal_cluster/reply/limits.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

const std::string kClient(16, 'c');
const std::string kOther(16, 'd');

Call call(std::uint32_t xid, const std::string& client = kClient) {
  return {.client = client, .xid = xid, .checksum = 5, .operation = 0};
}

// One mounted filesystem, and instances of a VNFS on it, one after the other.
class RepliesTest : public testing::Test {
 protected:
  RepliesTest() { begin(1); }
  void begin(std::uint64_t epoch) {
    replies = std::make_unique<Replies>(
        world.session(), clock,
        Replies::Options{.fs = world.context().fs, .vnfs = VnfsId{3}, .epoch = Epoch{epoch}});
    world.context().replies = replies.get();
  }
  Result<Created> mkdir_for(const Call& call, const std::string& name) {
    const CallScope scope(call);
    return mkdir(world.context(), kRoot, world.root(), name, {});
  }
  std::size_t records() {
    return world.session()
        .range(kv::prefix_range(kv::keys::replies(world.context().fs, VnfsId{3})), 0)
        ->kvs.size();
  }
  std::optional<Done> find(const Call& call) {
    const auto found = replies->find(call);
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(std::nullopt);
  }

  World world;
  env::ManualClock clock;
  std::unique_ptr<Replies> replies;
};

TEST_F(RepliesTest, WhatOneEpochHasDoneTheNextOneKnows) {
  const auto made = mkdir_for(call(7), "d");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(find(call(7))) << "ganesha's own cache answers within an epoch";
  begin(2);
  const Handle handle = made->attributes.handle;
  EXPECT_EQ(find(call(7)), (Done{handle.ino, handle.generation}));
  EXPECT_FALSE(find(call(8)));
  EXPECT_FALSE(find(call(7, kOther))) << "two clients may use one xid";
}

TEST_F(RepliesTest, WithoutACallNothingIsRecorded) {
  ASSERT_TRUE(mkdir(world.context(), kRoot, world.root(), "d", {}));
  EXPECT_EQ(records(), 0u);
}

TEST_F(RepliesTest, WhatWasRefusedHasNotBeenDone) {
  ASSERT_TRUE(mkdir_for(call(7), "d"));
  ASSERT_FALSE(mkdir_for(call(8), "d"));
  begin(2);
  EXPECT_TRUE(find(call(7)));
  EXPECT_FALSE(find(call(8)));
}

TEST_F(RepliesTest, ARecordMeansOneEffectWhateverHappensToTheTransaction) {
  std::uint32_t xid = 100;
  for (const kv::TxnFault::Kind fault : kCommitFaults) {
    world.fail_next_commit(fault);
    const std::string name = "d" + std::to_string(++xid);
    ASSERT_TRUE(mkdir_for(call(xid), name));
  }
  EXPECT_EQ(records(), std::size(kCommitFaults)) << "retries keep their place";
  begin(2);
  for (; xid > 100; --xid) {
    const auto made = lookup(world.context(), world.root(), "d" + std::to_string(xid));
    EXPECT_EQ(find(call(xid)), (Done{made->handle.ino, made->handle.generation}));
  }
}

TEST_F(RepliesTest, AFullRingForgetsTheOldest) {
  for (std::uint32_t xid = 0; xid <= kRepliesPerClientMax; ++xid) {
    const CallScope scope(call(xid));
    kv::Mutation mutation;
    mutation.writes = {*replies->record(Ino{0}, Generation{0})};
    ASSERT_TRUE(world.session().commit_blocking(std::move(mutation)));
  }
  EXPECT_EQ(records(), kRepliesPerClientMax);
  begin(2);
  EXPECT_FALSE(find(call(0)));
  EXPECT_TRUE(find(call(1)));
  EXPECT_TRUE(find(call(kRepliesPerClientMax)));
}

TEST_F(RepliesTest, FurtherClientsAreNotRecorded) {
  for (std::uint32_t i = 0; i < kReplyClientsMax; ++i) {
    std::string client(16, '\0');
    client[0] = static_cast<char>(i);
    client[1] = static_cast<char>(i >> 8);
    const CallScope scope(call(1, client));
    ASSERT_TRUE(replies->record(Ino{1}, Generation{1}));
  }
  const CallScope scope(call(1, kClient));
  EXPECT_FALSE(replies->record(Ino{1}, Generation{1}));
}

TEST_F(RepliesTest, ADoubleFailoverLosesNothing) {
  ASSERT_TRUE(mkdir_for(call(7), "d"));
  begin(2);
  ASSERT_TRUE(mkdir_for(call(8), "e"));
  begin(3);
  EXPECT_TRUE(find(call(7)));
  EXPECT_TRUE(find(call(8)));
}

TEST_F(RepliesTest, AfterAWhileNobodyAsksAndThenTheyAreErased) {
  ASSERT_TRUE(mkdir_for(call(7), "d"));
  ASSERT_TRUE(mkdir_for(call(7, kOther), "e"));
  begin(2);
  clock.advance_ns(kReplyLookNs - 1);
  EXPECT_TRUE(find(call(7)));
  ASSERT_TRUE(mkdir_for(call(9), "f"));
  clock.advance_ns(1);
  EXPECT_FALSE(find(call(7)));
  ASSERT_TRUE(replies->sweep());
  EXPECT_EQ(records(), 3u) << "another crash may need them";
  clock.advance_ns(kReplyEraseNs - kReplyLookNs);
  ASSERT_TRUE(replies->sweep());
  EXPECT_EQ(records(), 1u);
  begin(3);
  EXPECT_TRUE(find(call(9)));
  EXPECT_FALSE(find(call(7)));
}

TEST_F(RepliesTest, AnIdleClientIsForgotten) {
  ASSERT_TRUE(mkdir_for(call(7), "d"));
  clock.advance_ns(kReplyClientIdleNs / 2);
  ASSERT_TRUE(mkdir_for(call(7, kOther), "e"));
  clock.advance_ns(kReplyClientIdleNs / 2 + 1);
  ASSERT_TRUE(replies->sweep());
  EXPECT_EQ(records(), 1u);
  begin(2);
  EXPECT_TRUE(find(call(7, kOther)));
}

TEST_F(RepliesTest, AnotherVnfsHasItsOwn) {
  ASSERT_TRUE(mkdir_for(call(7), "d"));
  Replies other(world.session(), clock,
                {.fs = world.context().fs, .vnfs = VnfsId{4}, .epoch = Epoch{9}});
  EXPECT_FALSE(*other.find(call(7)));
}

}  // namespace
}  // namespace symnas::fs
