// What an answer proves: every resolution, from constructed answers.
#include "common/kv/slot.h"

#include <gtest/gtest.h>

#include "session_world.h"

namespace symnas::kv {
namespace {

using Kind = Resolution::Kind;

class SlotTest : public ::testing::Test {
 protected:
  SlotTest() {
    options_.session_id = "m1";
    options_.slot_prefix = "slot/";
    options_.mount_key = "mount";
    options_.ended_key = "mountE";
    options_.mount_create_revision = Revision(5);
    frame_.emplace(options_);
    use_ = SlotUse{.index = 0, .key = slot_key(options_, 0), .expected = Revision(40)};
    use_.sequence = 9;
    use_.operations = 3;
  }

  static KeyValue record(std::string key, std::int64_t create, std::int64_t mod,
                         std::string value = {}) {
    return KeyValue{std::move(key), std::move(value), Revision(create), Revision(mod), 1};
  }
  // The failure branch's answer: mount, end record, slot with operations.
  TxnResult failed(std::vector<KeyValue> slot_keys) const {
    TxnResult result;
    result.revision = Revision(100);
    result.results.resize(3);
    result.results[0].kvs.push_back(record("mount", 5, 5));
    result.results[2].kvs = std::move(slot_keys);
    return result;
  }
  KeyValue slot_record(std::int64_t mod, std::uint64_t sequence, std::uint32_t operations) const {
    return record(use_.key, 3, mod, encode_slot(sequence, operations));
  }
  static Result<TxnResult> error(ErrorCode code) { return fail(code, "x"); }

  SessionOptions options_;
  std::optional<Frame> frame_;
  SlotUse use_;
};

TEST_F(SlotTest, Format) {
  EXPECT_EQ(to_hex(slot_key(options_, 2)), to_hex("slot/m1/") + "02");
  EXPECT_EQ(to_hex(slot_operation_key(slot_key(options_, 2), 15)), to_hex("slot/m1/") + "020f");
  EXPECT_EQ(to_hex(encode_slot(0x1122334455667788, 16)), "112233445566778800000010");
  EXPECT_EQ(decode_slot(encode_slot(7, 3))->operations, 3u);
  EXPECT_FALSE(decode_slot("short"));
}

TEST_F(SlotTest, OwnAnswerTellsEachOperation) {
  TxnResult outer;
  outer.succeeded = true;
  outer.revision = Revision(50);
  outer.results.resize(4);
  outer.results[0].kind = Op::Kind::kPut;
  for (int i = 0; i < 3; ++i) {
    outer.results[1 + i].kind = Op::Kind::kTxn;
    outer.results[1 + i].txn = std::make_shared<TxnResult>();
    outer.results[1 + i].txn->succeeded = i != 1;
  }
  const auto resolution = judge_batch(*frame_, use_, false, outer);
  EXPECT_EQ(resolution.kind, Kind::kExecuted);
  EXPECT_TRUE(resolution.answered);
  EXPECT_EQ(resolution.revision, Revision(50));
  EXPECT_EQ(resolution.operations_succeeded, (std::vector<bool>{true, false, true}));
}

TEST_F(SlotTest, TheSlotTellsWhatALostReplyWouldHave) {
  const auto operation = [&](int i, std::int64_t mod) {
    return record(slot_operation_key(use_.key, i), 3, mod);
  };
  // Operation 1 has an older batch's revision: it failed in this batch.
  const auto resolution = judge_batch(
      *frame_, use_, true,
      failed({slot_record(60, 9, 3), operation(0, 60), operation(1, 40), operation(2, 60)}));
  EXPECT_EQ(resolution.kind, Kind::kExecuted);
  EXPECT_FALSE(resolution.answered);
  EXPECT_EQ(resolution.revision, Revision(60));
  EXPECT_EQ(resolution.operations_succeeded, (std::vector<bool>{true, false, true}));
}

TEST_F(SlotTest, ErrorsOfABatch) {
  EXPECT_EQ(judge_batch(*frame_, use_, false, error(ErrorCode::kUnavailable)).kind, Kind::kResend);
  EXPECT_EQ(judge_batch(*frame_, use_, true, error(ErrorCode::kUnavailable)).kind, Kind::kResend);
  EXPECT_EQ(judge_batch(*frame_, use_, false, error(ErrorCode::kUnknownOutcome)).kind,
            Kind::kResend);
  EXPECT_EQ(judge_batch(*frame_, use_, false, error(ErrorCode::kTooLarge)).kind, Kind::kRefused);
  EXPECT_EQ(judge_batch(*frame_, use_, true, error(ErrorCode::kTooLarge)).kind, Kind::kAbort);
  EXPECT_EQ(judge_batch(*frame_, use_, false, error(ErrorCode::kNoSpace)).kind, Kind::kAbort)
      << "etcd may have executed it";
}

TEST_F(SlotTest, Disproof) {
  auto other_mount = failed({slot_record(40, 8, 3)});
  other_mount.results[0].kvs[0].create_revision = Revision(77);
  EXPECT_EQ(judge_batch(*frame_, use_, false, other_mount).kind, Kind::kEnded);
  auto gone = failed({slot_record(40, 8, 3)});
  gone.results[0].kvs.clear();
  EXPECT_EQ(judge_batch(*frame_, use_, false, gone).kind, Kind::kEnded);
  auto ended = failed({slot_record(60, 9, 3)});
  ended.results[1].kvs.push_back(record("mountE", 70, 70));
  EXPECT_EQ(judge_batch(*frame_, use_, true, ended).kind, Kind::kEnded);
  EXPECT_EQ(judge_abort(*frame_, use_, ended).kind, Kind::kEnded);
  EXPECT_EQ(judge_arm(*frame_, use_, ended).kind, Kind::kEnded);
}

TEST_F(SlotTest, NothingDiffersProvesNothing) {
  EXPECT_EQ(judge_batch(*frame_, use_, false, failed({slot_record(40, 8, 3)})).kind, Kind::kResend);
}

TEST_F(SlotTest, AnotherProcessWithOurName) {
  EXPECT_EQ(judge_batch(*frame_, use_, true, failed({slot_record(60, 77, 1)})).kind, Kind::kEnded);
  EXPECT_EQ(judge_batch(*frame_, use_, true, failed({})).kind, Kind::kEnded);
}

TEST_F(SlotTest, AbortIsFinalEitherWay) {
  TxnResult done;
  done.succeeded = true;
  EXPECT_EQ(judge_abort(*frame_, use_, done).kind, Kind::kAborted);
  EXPECT_EQ(judge_abort(*frame_, use_, failed({})).kind, Kind::kAborted)
      << "an earlier copy of the abort";
  EXPECT_EQ(judge_abort(*frame_, use_, failed({slot_record(60, 9, 3)})).kind, Kind::kExecuted)
      << "the batch was faster";
  EXPECT_EQ(judge_abort(*frame_, use_, failed({slot_record(60, 2, 0)})).kind, Kind::kAborted)
      << "aborted, then armed by a late copy";
  EXPECT_EQ(judge_abort(*frame_, use_, error(ErrorCode::kNoSpace)).kind, Kind::kResend);
}

TEST_F(SlotTest, Arming) {
  SlotUse use = use_;
  use.expected = Revision(0);
  use.operations = 0;
  TxnResult done;
  done.succeeded = true;
  done.revision = Revision(44);
  EXPECT_EQ(judge_arm(*frame_, use, done).revision, Revision(44));
  const auto earlier_copy = judge_arm(*frame_, use, failed({slot_record(43, 9, 0)}));
  EXPECT_EQ(earlier_copy.kind, Kind::kExecuted);
  EXPECT_EQ(earlier_copy.revision, Revision(43));
  const auto used = judge_arm(*frame_, use, failed({slot_record(43, 12, 5)}));
  EXPECT_EQ(used.kind, Kind::kRefused);
  EXPECT_EQ(used.error.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(judge_arm(*frame_, use, error(ErrorCode::kNoSpace)).kind, Kind::kRefused);
}

TEST_F(SlotTest, GuardsAreEvaluatedAsEtcdDoes) {
  options_.guards.push_back(value_is("g", "mine"));
  options_.guards.push_back(range_absent(prefix_range("r/")));
  const Frame frame(options_);
  TxnResult outer;
  outer.results.resize(5);
  outer.results[0].kvs.push_back(record("mount", 5, 5));
  outer.results[2].kvs.push_back(record("g", 1, 1, "mine"));
  outer.results[4].kvs.push_back(slot_record(40, 8, 3));
  EXPECT_FALSE(frame.read(use_.key, outer)->disproof);
  outer.results[2].kvs.clear();
  EXPECT_TRUE(frame.read(use_.key, outer)->disproof) << "no key passes no value compare";
  outer.results[2].kvs.push_back(record("g", 1, 1, "mine"));
  outer.results[3].kvs.push_back(record("r/1", 9, 9));
  EXPECT_TRUE(frame.read(use_.key, outer)->disproof);
}

TEST_F(SlotTest, TableHandsOutArmedSlotsWithAscendingSequences) {
  SlotTable table(options_);
  EXPECT_FALSE(table.has_armed());
  EXPECT_FALSE(table.acquire(1));
  const auto arming = table.acquire_for_arming();
  ASSERT_TRUE(arming);
  EXPECT_EQ(arming->sequence, 0u);
  table.release(*arming, Revision(10));
  const auto first = table.acquire(2);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->expected, Revision(10));
  EXPECT_EQ(first->sequence, 1u);
  EXPECT_FALSE(table.acquire(1)) << "busy";
  table.release(*first, Revision(20));
  const auto second = table.acquire(1);
  EXPECT_EQ(second->expected, Revision(20));
  EXPECT_EQ(second->sequence, 2u);
  table.release(*second, Revision(0));
  EXPECT_FALSE(table.has_armed()) << "aborted: must be armed again";
  EXPECT_EQ(table.acquire_for_arming()->sequence, 2u);
}

}  // namespace
}  // namespace symnas::kv
