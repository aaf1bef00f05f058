#include "common/kv/operation.h"

#include <gtest/gtest.h>

#include "session_world.h"

namespace symnas::kv {
namespace {

SessionOptions test_options() {
  SessionOptions options;
  options.session_id = "m1";
  options.slot_prefix = keys::slot_prefix(kTestFs);
  options.watched = keys::watched(kTestFs);
  options.stamp_key = keys::stamp(kTestFs);
  options.mount_key = keys::mount(kTestFs, MountId(1));
  options.ended_key = keys::mount_ended(kTestFs, MountId(1));
  options.mount_create_revision = Revision(5);
  return options;
}

ErrorCode refusal(Mutation mutation) {
  const auto made = make_operation(std::move(mutation), test_options());
  EXPECT_FALSE(made);
  return made ? ErrorCode::kInternal : made.error().code;
}

TEST(Operation, KnowsWhatItTouches) {
  const auto plain = make_operation(put_mutation(unwatched_key("R1"), "v"), test_options());
  ASSERT_TRUE(plain);
  EXPECT_FALSE((*plain)->touches_watched);
  const auto watched = make_operation(put_mutation(data_key("I1"), "v"), test_options());
  EXPECT_TRUE((*watched)->touches_watched);
  EXPECT_FALSE((*watched)->erases_watched_range);
  Mutation merged;
  merged.merged_puts.push_back(put(data_key("T1"), "v"));
  EXPECT_TRUE((*make_operation(merged, test_options()))->touches_watched);
  Mutation range;
  range.writes.push_back(erase_range(prefix_range(data_key("M1"))));
  EXPECT_TRUE((*make_operation(range, test_options()))->erases_watched_range);
  Mutation close;
  close.writes.push_back(put(test_options().ended_key, ""));
  EXPECT_TRUE((*make_operation(close, test_options()))->ends_session);
}

TEST(Operation, RefusesWhatWouldPoisonABatch) {
  Mutation twice = put_mutation("a", "1");
  twice.merged_puts.push_back(put("a", "2"));
  EXPECT_EQ(refusal(twice), ErrorCode::kInvalidArgument);
  Mutation put_and_deleted = put_mutation("ab", "1");
  put_and_deleted.writes.push_back(erase_range(prefix_range("a")));
  EXPECT_EQ(refusal(put_and_deleted), ErrorCode::kInvalidArgument);
  Mutation reads;
  reads.writes.push_back(get("a"));
  EXPECT_EQ(refusal(reads), ErrorCode::kInvalidArgument);
  Mutation merged_delete;
  merged_delete.merged_puts.push_back(erase("a"));
  EXPECT_EQ(refusal(merged_delete), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(put_mutation("", "1")), ErrorCode::kInvalidArgument);
}

TEST(Operation, RefusesTheSessionsOwnKeys) {
  EXPECT_EQ(refusal(put_mutation(keys::stamp(kTestFs), "1")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(put_mutation(slot_key(test_options(), 0), "1")), ErrorCode::kInvalidArgument);
  Mutation everything;
  everything.writes.push_back(erase_range(keys::watched(kTestFs)));
  EXPECT_EQ(refusal(everything), ErrorCode::kInvalidArgument) << "the stamp lies in it";
}

TEST(Operation, RefusesWhatDoesNotFitIntoOneTransaction) {
  EXPECT_EQ(refusal(put_mutation("a", std::string(kTxnBytesMax, 'x'))), ErrorCode::kTooLarge);
  Mutation many;
  for (int i = 0; i < kTxnOpsMax; ++i) many.writes.push_back(put("k" + std::to_string(i), ""));
  EXPECT_EQ(refusal(many), ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace symnas::kv
