#include "fsal_cluster/schema/name_hash.h"

#include <gtest/gtest.h>

#include "common/env/random.h"

namespace symnas::fs {
namespace {

std::string counting(int size) {
  std::string out;
  for (int i = 0; i < size; ++i) out.push_back(static_cast<char>(i));
  return out;
}

std::array<std::uint8_t, 16> paper_key() {
  std::array<std::uint8_t, 16> key{};
  for (std::uint8_t i = 0; i < 16; ++i) key[i] = i;
  return key;
}

// Appendix A of the paper, and vectors.h of its reference implementation.
TEST(NameHashTest, SipHashMatchesThePublishedVectors) {
  EXPECT_EQ(siphash24(paper_key(), counting(15)), 0xa129ca6149be45e5ULL);
  EXPECT_EQ(siphash24(paper_key(), ""), 0x726fdb47dd0e0e31ULL);
  EXPECT_EQ(siphash24(paper_key(), counting(1)), 0x74f839c593dc67fdULL);
  EXPECT_EQ(siphash24(paper_key(), counting(8)), 0x93f5f5799a932462ULL);
}

TEST(NameHashTest, KeyMustHave16Bytes) {
  EXPECT_TRUE(NameHasher::create(std::string(16, 'k')));
  for (const std::size_t size : {0, 15, 17}) {
    const auto hasher = NameHasher::create(std::string(size, 'k'));
    ASSERT_FALSE(hasher);
    EXPECT_EQ(hasher.error().code, ErrorCode::kCorrupt);
  }
}

TEST(NameHashTest, HashesAndCookiesStayInTheirRange) {
  const NameHasher hasher = *NameHasher::create(std::string(16, 'k'));
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t hash = hasher.hash("file" + std::to_string(i));
    ASSERT_GE(hash, 1u);
    ASSERT_LT(hash, kNameHashEnd);
    const std::uint64_t cookie = Cookie{hash, 255}.value();
    ASSERT_GE(cookie, 256u);
    ASSERT_LT(cookie, std::uint64_t{1} << 62);
  }
}

TEST(NameHashTest, HashDependsOnTheKey) {
  EXPECT_NE(NameHasher::create(std::string(16, 'a'))->hash("x"),
            NameHasher::create(std::string(16, 'b'))->hash("x"));
}

TEST(NameHashTest, CookieRoundTrip) {
  const Cookie cookie = *parse_cookie(Cookie{0x3fffffffffffff, 17}.value());
  EXPECT_EQ(cookie.hash, 0x3fffffffffffffu);
  EXPECT_EQ(cookie.slot, 17u);
}

TEST(NameHashTest, CookiesThatNoEntryHasAreRefused) {
  for (const std::uint64_t bad :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{255}, std::uint64_t{1} << 62,
        std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    const auto cookie = parse_cookie(bad);
    ASSERT_FALSE(cookie) << bad;
    EXPECT_EQ(cookie.error().code, ErrorCode::kBadCookie);
  }
}

}  // namespace
}  // namespace symnas::fs
