#include "fsal_cluster/state/lock_recorder.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

const LockOwner kAnna{LockProtocol::kNfs4, "client a", "anna"};
const LockRecorder::Key kKey{Ino{7}, kAnna};

class LockRecorderTest : public ::testing::Test {
 protected:
  static RecordedLock exclusive(std::uint64_t start, std::uint64_t end) {
    return {{{start, end, LockMode::kExclusive}}, {}, 100};
  }
  kv::KeyValue stored() {
    const auto found =
        world_.session().range(kv::single_key(lock_key(world_.fs(), Ino{7}, "vnfs1", kAnna)), 1);
    return found && !found->kvs.empty() ? found->kvs.front() : kv::KeyValue{};
  }

  World world_;
  LockRecorder recorder_{world_.session(), world_.fs(), "vnfs1"};
};

TEST_F(LockRecorderTest, WhatIsWrittenIsKnownByItsRevision) {
  ASSERT_TRUE(recorder_.write(kKey, exclusive(0, 9)));
  const kv::KeyValue kv = stored();
  EXPECT_EQ(lock_of(*parse_lock(kv)).ranges, exclusive(0, 9).ranges);
  EXPECT_TRUE(recorder_.is_recorded_as(kKey, kv.mod_revision));
  ASSERT_TRUE(recorder_.write(kKey, exclusive(0, 19)));
  EXPECT_FALSE(recorder_.is_recorded_as(kKey, kv.mod_revision));
  ASSERT_TRUE(recorder_.write(kKey, {}));
  EXPECT_TRUE(stored().key.empty());
  world_.session().forget();
  ASSERT_TRUE(recorder_.write(kKey, {}));
  EXPECT_TRUE(world_.session().mutations().empty()) << "there is nothing to erase";
}

TEST_F(LockRecorderTest, WhatSomebodyElseHasWrittenIsNotWrittenOver) {
  LockRecorder other(world_.session(), world_.fs(), "vnfs1");
  ASSERT_TRUE(other.write(kKey, exclusive(0, 9)));
  const Status written = recorder_.write(kKey, exclusive(20, 29));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kConflict);
  EXPECT_EQ(lock_of(*parse_lock(stored())).ranges, exclusive(0, 9).ranges);
  EXPECT_TRUE(recorder_.write(kKey, exclusive(20, 29))) << "it knows the revision now";
}

TEST_F(LockRecorderTest, NothingIsWrittenWhenTheInodeHasChanged) {
  ASSERT_TRUE(recorder_.write(kKey, exclusive(0, 9)));
  const LockRecorder::Key bert{Ino{7}, {LockProtocol::kNfs4, "client b", "bert"}};
  const Status written = recorder_.write(bert, exclusive(20, 29), kv::key_absent(stored().key));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kConflict);
}

TEST_F(LockRecorderTest, ManyAreErasedInOneTransaction) {
  std::vector<LockRecorder::Key> keys;
  for (std::uint64_t ino = 100; ino < 103; ++ino) {
    keys.push_back({Ino{ino}, kAnna});
    ASSERT_TRUE(recorder_.write(keys.back(), exclusive(0, 9)));
  }
  keys.push_back(kKey);  // not recorded
  world_.session().forget();
  ASSERT_TRUE(recorder_.erase(keys));
  ASSERT_EQ(world_.session().mutations().size(), 1u);
  EXPECT_EQ(world_.session().mutations().front().writes.size(), 3u);
  EXPECT_EQ(world_.session().mutations().front().growth, kv::Growth::kMustGo);
}

TEST_F(LockRecorderTest, WhatNobodyElseHasChangedIsErasedByItself) {
  const LockRecorder::Key next{Ino{8}, kAnna};
  ASSERT_TRUE(recorder_.write(kKey, exclusive(0, 9)));
  ASSERT_TRUE(recorder_.write(next, exclusive(0, 9)));
  kv::Mutation mutation;
  mutation.writes = {kv::erase(lock_key(world_.fs(), Ino{8}, "vnfs1", kAnna))};
  ASSERT_TRUE(world_.session().commit_blocking(std::move(mutation)));
  EXPECT_FALSE(recorder_.erase(std::vector{kKey, next}));
  EXPECT_TRUE(stored().key.empty());
  EXPECT_TRUE(recorder_.erase(std::vector{kKey, next})) << "it knows now that both are gone";
}

}  // namespace
}  // namespace symnas::fs
