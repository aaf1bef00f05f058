#include "fsal_cluster/data/block_bits.h"

#include <gtest/gtest.h>

#include "common/env/random.h"

namespace symnas::fs {
namespace {

TEST(BlockBits, RecordFormIsLsbFirstAndEmptyMeansAll) {
  BlockBits bits(20);
  bits.set(0, 1, true);
  bits.set(9, 2, true);
  EXPECT_EQ(bits.bytes(20), std::string("\x01\x06"));
  EXPECT_EQ(BlockBits(20, true).bytes(20), "");
  EXPECT_TRUE(BlockBits::parse("", 7).all());
  const BlockBits back = BlockBits::parse(bits.bytes(20), 20);
  EXPECT_EQ(back.count(), 3u);
  EXPECT_TRUE(back.test(10));
  EXPECT_EQ(BlockBits::parse(std::string("\x01", 1), 20).count(), 1u);  // short: rest is clear
}

TEST(BlockBits, APrefixThatIsAllSetIsEmpty) {
  BlockBits bits(100);
  bits.set(0, 40, true);
  EXPECT_EQ(bits.bytes(40), "");
  EXPECT_NE(bits.bytes(41), "");
}

// Compares every operation with a vector<bool>.
TEST(BlockBits, BehavesLikeAVectorOfBool) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    env::SeededRandom random(seed);
    std::vector<bool> model(1 + random.below(300));
    BlockBits bits(static_cast<std::uint32_t>(model.size()));
    for (int i = 0; i < 60; ++i) {
      const auto first = static_cast<std::uint32_t>(random.below(model.size()));
      const auto count = static_cast<std::uint32_t>(random.below(model.size() - first + 1));
      const bool value = random.below(2) == 0;
      switch (random.below(5)) {
        case 0: {
          const auto size = static_cast<std::uint32_t>(1 + random.below(300));
          bits.resize(size);
          model.resize(size);
          break;
        }
        case 1: {
          const BlockBits rest = bits.split(first);
          ASSERT_EQ(rest.size(), model.size() - first);
          for (std::uint32_t b = 0; b < rest.size(); ++b) ASSERT_EQ(rest.test(b), model[first + b]);
          bits.resize(static_cast<std::uint32_t>(model.size()));
          std::fill(model.begin() + first, model.end(), false);
          break;
        }
        default:
          bits.set(first, count, value);
          std::fill(model.begin() + first, model.begin() + first + count, value);
      }
      std::uint32_t ones = 0;
      for (std::uint32_t b = 0; b < model.size(); ++b) {
        ASSERT_EQ(bits.test(b), model[b]) << "seed " << seed << " bit " << b;
        ones += model[b] ? 1 : 0;
      }
      ASSERT_EQ(bits.count(), ones);
      ASSERT_EQ(bits.all(), ones == model.size());
      const bool wanted = random.below(2) == 0;
      const auto from = static_cast<std::uint32_t>(random.below(model.size()));
      std::uint32_t expected = from;
      while (expected < model.size() && model[expected] != wanted) ++expected;
      ASSERT_EQ(bits.next(from, wanted), expected) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace symnas::fs
