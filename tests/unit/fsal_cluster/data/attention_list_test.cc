#include "fsal_cluster/data/attention_list.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

std::vector<std::uint64_t> numbers(const std::vector<AttentionList::CreatedToken>& tokens) {
  std::vector<std::uint64_t> out;
  for (const AttentionList::CreatedToken& token : tokens) out.push_back(token.ino.value());
  return out;
}

TEST(AttentionList, AFileIsListedOnceUntilItIsRemoved) {
  AttentionList list;
  list.add(Ino{1});
  list.add(Ino{2});
  list.add(Ino{1});
  std::vector<Ino> files = list.files();
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (std::vector<Ino>{Ino{1}, Ino{2}}));
  list.remove(Ino{1});
  list.remove(Ino{7});  // not listed
  EXPECT_EQ(list.files(), std::vector<Ino>{Ino{2}});
}

TEST(AttentionList, CreatedTokensAreTakenUpToATime) {
  AttentionList list;
  for (std::uint64_t i = 1; i <= 4; ++i)
    list.add_created({Ino{i}, static_cast<std::int64_t>(i * 10)});
  EXPECT_TRUE(list.take_created(9).empty());
  EXPECT_EQ(numbers(list.take_created(20)), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(numbers(list.take_created(INT64_MAX)), (std::vector<std::uint64_t>{3, 4}));
  EXPECT_TRUE(list.take_created(INT64_MAX).empty());
  EXPECT_TRUE(list.files().empty());
}

TEST(AttentionList, ATokenThatIsAddedLateIsTakenAtItsTime) {
  AttentionList list;
  list.add_created({Ino{1}, 10});
  list.add_created({Ino{3}, 30});
  list.add_created({Ino{2}, 20});
  EXPECT_EQ(numbers(list.take_created(20)), (std::vector<std::uint64_t>{1, 2}));
}

TEST(AttentionList, WhatIsPutBackIsTakenFirst) {
  AttentionList list;
  list.add_created({Ino{1}, 10});
  list.add_created({Ino{2}, 20});
  const auto taken = list.take_created(20);
  list.add_created({Ino{3}, 30});
  list.put_back({taken.back()});
  EXPECT_EQ(numbers(list.take_created(INT64_MAX)), (std::vector<std::uint64_t>{2, 3}));
}

}  // namespace
}  // namespace symnas::fs
