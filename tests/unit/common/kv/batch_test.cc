// The etcd transaction of a batch, compare by compare.
#include "common/kv/batch.h"

#include <gtest/gtest.h>

#include "session_world.h"

namespace symnas::kv {
namespace {

SessionOptions test_options() {
  SessionOptions options;
  options.session_id = "m1";
  options.slot_prefix = unwatched_key("S");
  options.watched = keys::watched(kTestFs);
  options.stamp_key = keys::stamp(kTestFs);
  options.mount_key = keys::mount(kTestFs, MountId(1));
  options.ended_key = keys::mount_ended(kTestFs, MountId(1));
  options.mount_create_revision = Revision(5);
  options.guards.push_back(create_revision_is("c/owner/v", Revision(6)));
  return options;
}

class BatchTest : public ::testing::Test {
 protected:
  Batch build(std::vector<Mutation> mutations) {
    Operations operations;
    for (auto& mutation : mutations) {
      operations.push_back(std::move(*make_operation(std::move(mutation), options_)));
    }
    SlotUse use{.index = 2, .key = slot_key(options_, 2), .expected = Revision(40), .sequence = 9};
    use.operations = static_cast<std::uint32_t>(operations.size());
    return build_batch(options_, frame_, use, std::move(operations), 0x0102030405060708);
  }

  const SessionOptions options_ = test_options();
  const Frame frame_{options_};
};

TEST_F(BatchTest, ComparesMountEndGuardsAndSlot) {
  const auto batch = build({put_mutation(data_key("I1"), "v")});
  const auto& compares = batch.txn.compares;
  ASSERT_EQ(compares.size(), 4u);
  EXPECT_EQ(compares[0].range.key, options_.mount_key);
  EXPECT_EQ(compares[0].target, Compare::Target::kCreateRevision);
  EXPECT_EQ(compares[0].number, 5);
  EXPECT_EQ(compares[1].range.key, options_.ended_key);
  EXPECT_EQ(compares[1].target, Compare::Target::kVersion);
  EXPECT_EQ(compares[1].number, 0);
  EXPECT_EQ(compares[2].range.key, "c/owner/v");
  EXPECT_EQ(compares[3].range.key, slot_key(options_, 2));
  EXPECT_EQ(compares[3].target, Compare::Target::kModRevision);
  EXPECT_EQ(compares[3].number, 40);
}

TEST_F(BatchTest, PutsSlotThenStampThenMergedThenNested) {
  Mutation first = put_mutation(data_key("I1"), "v");
  first.compares.push_back(mod_revision_is(data_key("P"), Revision(30)));
  first.merged_puts.push_back(put(data_key("T"), "1"));
  Mutation second = put_mutation(data_key("I2"), "v");
  second.compares.push_back(mod_revision_is(data_key("P"), Revision(30)));
  second.merged_puts.push_back(put(data_key("T"), "2"));
  second.merged_puts.push_back(put(data_key("T2"), "3"));
  const auto batch = build({first, second, put_mutation(data_key("I3"), "v")});
  const auto& ops = batch.txn.success;
  ASSERT_EQ(ops.size(), 7u);
  EXPECT_EQ(ops[0].range.key, slot_key(options_, 2));
  EXPECT_EQ(to_hex(ops[0].value),
            "0000000000000009"
            "00000003");
  EXPECT_EQ(ops[1].range.key, keys::stamp(kTestFs)) << "first of the watched puts";
  EXPECT_EQ(to_hex(ops[1].value), "0102030405060708");
  EXPECT_EQ(ops[2].range.key, data_key("T"));
  EXPECT_EQ(ops[2].value, "2") << "the last one's value, once";
  EXPECT_EQ(ops[3].range.key, data_key("T2"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ops[4 + i].kind, Op::Kind::kTxn);
  EXPECT_EQ(batch.shared_parent, (std::vector<bool>{true, true, false}));

  const Txn& nested = *ops[4].txn;
  ASSERT_EQ(nested.compares.size(), 1u);
  ASSERT_EQ(nested.success.size(), 2u);
  EXPECT_EQ(nested.success[0].range.key, data_key("I1"));
  EXPECT_EQ(nested.success[1].range.key, slot_operation_key(slot_key(options_, 2), 0));
  ASSERT_EQ(nested.failure.size(), 1u);
  EXPECT_EQ(nested.failure[0].kind, Op::Kind::kRange);
  EXPECT_EQ(nested.failure[0].range.key, data_key("P"));
}

TEST_F(BatchTest, FailureBranchReadsEverythingAndWritesNothing) {
  const auto batch = build({put_mutation(data_key("I1"), "v")});
  const auto& reads = batch.txn.failure;
  ASSERT_EQ(reads.size(), 4u);
  for (const auto& op : reads) EXPECT_EQ(op.kind, Op::Kind::kRange);
  EXPECT_EQ(reads[0].range.key, options_.mount_key);
  EXPECT_EQ(reads[1].range.key, options_.ended_key);
  EXPECT_EQ(reads[2].range.key, "c/owner/v");
  EXPECT_EQ(reads[3].range, prefix_range(slot_key(options_, 2)));
}

TEST_F(BatchTest, NoStampWhenNothingWatchedCanChange) {
  const auto batch = build({put_mutation(unwatched_key("R1"), "v")});
  ASSERT_EQ(batch.txn.success.size(), 2u);
  EXPECT_EQ(batch.txn.success[1].kind, Op::Kind::kTxn);
  EXPECT_TRUE(batch.watched_puts.empty());
}

TEST_F(BatchTest, ComparedRangesAndUnwatchedKeysAreNotReadBack) {
  Mutation mutation = put_mutation(data_key("I1"), "v");
  mutation.compares.push_back(range_absent(prefix_range(data_key("D"))));
  mutation.compares.push_back(key_absent(unwatched_key("R1")));
  mutation.compares.push_back(key_exists(data_key("P")));
  mutation.compares.push_back(value_is(data_key("P"), "x"));
  const auto batch = build({mutation});
  ASSERT_EQ(batch.nested.front()->failure.size(), 1u);
  EXPECT_EQ(batch.nested.front()->failure[0].range.key, data_key("P"));
}

TEST_F(BatchTest, ARefusedBatchGivesItsOperationsBackUnchanged) {
  Mutation mutation = put_mutation(data_key("I1"), "v");
  mutation.compares.push_back(key_exists(data_key("P")));
  mutation.merged_puts.push_back(put(data_key("T"), "1"));
  auto batch = build({mutation});
  const auto back = take_back(batch);
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(back[0]->mutation.compares.size(), 1u);
  ASSERT_EQ(back[0]->mutation.writes.size(), 1u);
  EXPECT_EQ(back[0]->mutation.writes[0].range.key, data_key("I1"));
  EXPECT_EQ(back[0]->mutation.merged_puts.size(), 1u);
}

}  // namespace
}  // namespace symnas::kv
