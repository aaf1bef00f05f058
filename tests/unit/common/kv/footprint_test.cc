#include "common/kv/footprint.h"

#include <gtest/gtest.h>

namespace symnas::kv {
namespace {

Mutation compares(const std::string& key) {
  Mutation mutation;
  mutation.compares.push_back(key_exists(key));
  return mutation;
}
Mutation compares_range(const std::string& prefix) {
  Mutation mutation;
  mutation.compares.push_back(range_absent(prefix_range(prefix)));
  return mutation;
}
Mutation puts(const std::string& key) {
  Mutation mutation;
  mutation.writes.push_back(put(key, "v"));
  return mutation;
}
Mutation erases_range(const std::string& prefix) {
  Mutation mutation;
  mutation.writes.push_back(erase_range(prefix_range(prefix)));
  return mutation;
}
Mutation merges(const std::string& key) {
  Mutation mutation;
  mutation.merged_puts.push_back(put(key, "v"));
  return mutation;
}

bool conflict(const Mutation& a, const Mutation& b) {
  const Footprint first = footprint_of(a);
  const Footprint second = footprint_of(b);
  Claims claims;
  claims.add(first);
  Claims turned;
  turned.add(second);
  EXPECT_EQ(claims.conflicts(second), turned.conflicts(first)) << "conflict is symmetric";
  return claims.conflicts(second);
}

TEST(Footprint, OneKeyTheStrongestUse) {
  Mutation mutation = compares("a");
  mutation.writes.push_back(put("a", "v"));
  const auto footprint = footprint_of(mutation);
  ASSERT_EQ(footprint.points.size(), 1u);
  EXPECT_EQ(footprint.points.front().use, KeyUse::kWrite);
}

TEST(Footprint, WhoMayTravelTogether) {
  EXPECT_FALSE(conflict(compares("a"), compares("a"))) << "the parent of two creates";
  EXPECT_FALSE(conflict(merges("a"), merges("a"))) << "the parent's times";
  EXPECT_FALSE(conflict(puts("a"), puts("b")));
  EXPECT_FALSE(conflict(compares_range("d"), compares("da")));
  EXPECT_FALSE(conflict(compares_range("d"), compares_range("da")));
  EXPECT_FALSE(conflict(compares_range("d"), puts("e")));
}

TEST(Footprint, WhoMustWait) {
  EXPECT_TRUE(conflict(puts("a"), compares("a")));
  EXPECT_TRUE(conflict(puts("a"), puts("a")));
  EXPECT_TRUE(conflict(puts("a"), merges("a")));
  EXPECT_TRUE(conflict(merges("a"), compares("a")));
  EXPECT_TRUE(conflict(compares_range("d"), puts("da"))) << "rmdir and a create in it";
  EXPECT_TRUE(conflict(compares_range("d"), merges("da")));
  EXPECT_TRUE(conflict(erases_range("d"), compares("da")));
  EXPECT_TRUE(conflict(erases_range("d"), puts("da")));
  EXPECT_TRUE(conflict(erases_range("d"), compares_range("da")));
  EXPECT_TRUE(conflict(erases_range("d"), erases_range("da")));
}

TEST(Claims, CountUsesOfSharedKeys) {
  const Footprint first = footprint_of(compares("a"));
  const Footprint second = footprint_of(compares("a"));
  const Footprint range = footprint_of(erases_range("x"));
  const Footprint writer = footprint_of(puts("a"));
  Claims claims;
  claims.add(first);
  claims.add(range);
  claims.add(second);
  claims.remove(first);
  EXPECT_TRUE(claims.conflicts(writer)) << "the second one still compares it";
  claims.remove(second);
  EXPECT_FALSE(claims.conflicts(writer));
  claims.remove(range);
  EXPECT_TRUE(claims.empty());
}

}  // namespace
}  // namespace symnas::kv
