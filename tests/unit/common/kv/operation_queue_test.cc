#include "common/kv/operation_queue.h"

#include <gtest/gtest.h>

#include "common/kv/limits.h"
#include "session_world.h"

namespace symnas::kv {
namespace {

std::unique_ptr<Operation> operation(Mutation mutation) {
  SessionOptions options;
  options.slot_prefix = "s";
  options.watched = prefix_range("w");
  options.stamp_key = "wS";
  options.mount_key = "wB";
  options.ended_key = "wBE";
  auto made = make_operation(std::move(mutation), options);
  EXPECT_TRUE(made);
  return std::move(*made);
}
std::unique_ptr<Operation> put_operation(const std::string& key, const std::string& value = "v") {
  return operation(put_mutation(key, value));
}
// "create": compares the parent, puts a name, merges the parent's times.
std::unique_ptr<Operation> create(const std::string& parent, const std::string& name) {
  Mutation mutation;
  mutation.compares.push_back(key_exists(parent));
  mutation.writes.push_back(put(parent + "/" + name, ""));
  mutation.merged_puts.push_back(put(parent + ":times", ""));
  return operation(std::move(mutation));
}
std::string name_of(const std::unique_ptr<Operation>& op) {
  return op->mutation.writes.front().range.key;
}
std::vector<std::string> names(const Operations& operations) {
  std::vector<std::string> out;
  for (const auto& op : operations) out.push_back(name_of(op));
  return out;
}

using Names = std::vector<std::string>;

TEST(OperationQueue, CreatesInOneDirectoryShareABatch) {
  OperationQueue queue;
  for (const char* name : {"a", "b", "c"}) queue.push(create("d", name));
  EXPECT_EQ(names(queue.take_batch({})), (Names{"d/a", "d/b", "d/c"}));
  EXPECT_TRUE(queue.empty());
}

TEST(OperationQueue, AConflictWaitsAndIsNotOvertaken) {
  OperationQueue queue;
  queue.push(create("d", "a"));
  queue.push(put_operation("d"));  // chmod of the parent: waits for the create
  queue.push(create("d", "b"));    // must not overtake the chmod
  queue.push(create("e", "c"));
  EXPECT_EQ(names(queue.take_batch({})), (Names{"d/a", "e/c"}));
  EXPECT_EQ(names(queue.take_batch({})), (Names{"d"}));
  EXPECT_EQ(names(queue.take_batch({})), (Names{"d/b"}));
}

TEST(OperationQueue, WaitsForWhatIsInFlight) {
  const auto in_flight = put_operation("x");
  Claims claims;
  claims.add(in_flight->footprint);
  OperationQueue queue;
  queue.push(put_operation("x"));
  queue.push(put_operation("y"));
  EXPECT_EQ(names(queue.take_batch(claims)), (Names{"y"}));
  EXPECT_TRUE(queue.take_batch(claims).empty());
  claims.remove(in_flight->footprint);
  const auto batch = queue.take_batch(claims);
  EXPECT_EQ(names(batch), (Names{"x"}));
  EXPECT_TRUE(batch.front()->waited);
}

TEST(OperationQueue, MergedPutsOfSeveralBatchesMayBeUnderWay) {
  const auto in_flight = create("d", "a");
  Claims claims;
  claims.add(in_flight->footprint);
  OperationQueue queue;
  queue.push(create("d", "b"));
  EXPECT_EQ(queue.take_batch(claims).size(), 1u);
}

TEST(OperationQueue, LimitsOfOneTransaction) {
  OperationQueue queue;
  for (int i = 0; i < kBatchOperationsMax + 3; ++i)
    queue.push(put_operation("k" + std::to_string(i)));
  EXPECT_EQ(queue.take_batch({}).size(), static_cast<std::size_t>(kBatchOperationsMax));
  EXPECT_EQ(queue.take_batch({}).size(), 3u);
  for (int i = 0; i < 3; ++i) {
    queue.push(put_operation("k" + std::to_string(i), std::string(kTxnBytesMax / 2 - 5'000, 'x')));
  }
  EXPECT_EQ(queue.take_batch({}).size(), 1u) << "two would exceed the bytes with the frame";
}

TEST(OperationQueue, RefusedOnesGoBackInOrderAndAlone) {
  OperationQueue queue;
  for (const char* key : {"a", "b", "c"}) queue.push(put_operation(key));
  auto batch = queue.take_batch({});
  for (auto& op : batch) op->alone = true;
  queue.push(put_operation("d"));
  queue.push_front(std::move(batch));
  EXPECT_EQ(names(queue.take_batch({})), (Names{"a"}));
  EXPECT_EQ(names(queue.take_batch({})), (Names{"b"}));
  EXPECT_EQ(names(queue.take_batch({})), (Names{"c"}));
  EXPECT_EQ(names(queue.take_batch({})), (Names{"d"}));
}

}  // namespace
}  // namespace symnas::kv
