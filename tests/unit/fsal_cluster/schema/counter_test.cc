#include "fsal_cluster/schema/counter.h"

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

kv::OpResult holding(const std::string& text) {
  kv::OpResult read;
  read.kvs.push_back(kv::KeyValue{"k", text, Revision{3}, Revision{4}, 1});
  return read;
}

TEST(CounterTest, AnAbsentKeyIsTheFirstValue) {
  const auto counter = parse_counter("k", {}, 16);
  ASSERT_TRUE(counter);
  EXPECT_EQ(counter->next, 16u);
  EXPECT_EQ(counter->mod_revision, Revision{0});
}

TEST(CounterTest, TakesNumbersFromDecimalText) {
  const auto counter = parse_counter("k", holding("41"));
  ASSERT_TRUE(counter);
  EXPECT_EQ(counter->next, 41u);
  EXPECT_EQ(counter_advanced("k", *counter, 2).value, "43");
  EXPECT_EQ(counter_unchanged("k", *counter).number, 4);
}

TEST(CounterTest, AnythingElseIsCorrupt) {
  for (const char* text : {"", "x", "1x", "-1", "99999999999999999999999", "3"}) {
    const auto counter = parse_counter("k", holding(text), 16);
    ASSERT_FALSE(counter) << text;
    EXPECT_EQ(counter.error().code, ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace symnas::fs
