#include "fsal_cluster/check/window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "common/base/bytes.h"
#include "common/env/random.h"
#include "fsal_cluster/check/limits.h"

namespace symnas::fs::check {
namespace {

std::string key(std::uint64_t a, std::uint64_t b) {
  std::string out = "t";
  append_be64(out, a);
  append_be64(out, b);
  return out;
}

struct Read {
  std::vector<std::string> keys;
  int pages = 0;
  std::int64_t most_counted = 0;  // behind the first page
};

// Reads as from a store; every `failing`-th try is answered too late (0: none).
Read read_all(const std::vector<std::string>& keys, const kv::KeyRange& range, std::size_t limit,
              int failing = 0) {
  Read out;
  int tries = 0;
  for (Window window(range); !window.done();) {
    if (++tries > 100'000) break;
    if (failing != 0 && tries % failing == 0) {
      window.too_much();
      continue;
    }
    const kv::KeyRange asked = window.next();
    const auto begin = std::lower_bound(keys.begin(), keys.end(), asked.key);
    const auto end = std::lower_bound(keys.begin(), keys.end(), asked.end);
    kv::OpResult page;
    page.count = end - begin;
    page.more = static_cast<std::size_t>(page.count) > limit;
    for (auto it = begin; it != end && page.kvs.size() < limit; ++it) {
      page.kvs.emplace_back().key = *it;
      out.keys.push_back(*it);
    }
    if (out.pages++ > 0) out.most_counted = std::max(out.most_counted, page.count);
    window.answered(page);
  }
  return out;
}

TEST(Window, ASmallTableIsOneQuestion) {
  const std::vector<std::string> keys = {key(1, 0), key(2, 5), key(900, 1)};
  const Read read = read_all(keys, kv::prefix_range("t"), 100);
  EXPECT_EQ(read.keys, keys);
  EXPECT_EQ(read.pages, 1);
}

TEST(Window, ALargeTableIsReadOnceAndInOrderWithoutCountingAllOfIt) {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < 300'000; ++i) keys.push_back(key(i, 0));
  const Read read = read_all(keys, kv::prefix_range("t"), 8192);
  EXPECT_EQ(read.keys, keys);
  EXPECT_LE(read.most_counted, kWindowKeysMax);
  EXPECT_LT(read.pages, 120);
}

TEST(Window, CrowdedAndEmptyPlacesFollowEachOther) {
  env::SeededRandom random(7);
  std::vector<std::string> keys;
  for (std::uint64_t directory = 1; directory < 2000; directory += directory < 10 ? 1 : 300)
    for (std::uint64_t i = 0; i < (directory % 2 == 0 ? 20'000U : 3U); ++i)
      keys.push_back(key(directory, random.next() >> 10));
  std::sort(keys.begin(), keys.end());
  for (const int failing : {0, 3, 10}) {
    const Read read = read_all(keys, kv::prefix_range("t"), 4096, failing);
    EXPECT_EQ(read.keys, keys);
    EXPECT_LT(read.pages, 1500) << failing;
  }
}

TEST(Window, ShortKeysAreNotMissed) {
  const std::vector<std::string> keys = {"t", "ta", std::string("tb\0", 3),
                                         "tzzzzzzzzzzzzzzzzzzzzzz"};
  for (const int failing : {0, 2}) {
    const Read read = read_all(keys, kv::prefix_range("t"), 1, failing);
    EXPECT_EQ(read.keys, keys);
  }
}

TEST(Window, BetweenTheTablesToo) {
  std::vector<std::string> keys;
  for (char letter = 'D'; letter <= 'F'; ++letter)
    for (std::uint64_t i = 0; i < 30'000; ++i) {
      keys.push_back(std::string("u") + letter);
      append_be64(keys.back(), i);
    }
  for (const int failing : {0, 2, 5}) {
    const Read read = read_all(keys, kv::KeyRange{"uD", "uG"}, 1000, failing);
    EXPECT_EQ(read.keys, keys);
    EXPECT_LT(read.pages, 3000);
  }
}

}  // namespace
}  // namespace symnas::fs::check
