#include "vnfsd/pki/token.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::pki {
namespace {

TEST(Token, OnlyItsOwnSecretMatches) {
  const auto first = make_token("backup.v1");
  const auto second = make_token("backup.v1");
  ASSERT_TRUE(first && second);
  const auto parts = parse_token(first->text);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->name, "backup.v1");
  EXPECT_EQ(parts->secret.size(), 64u);
  EXPECT_TRUE(secret_matches(parts->secret, first->salt, first->hash));
  EXPECT_FALSE(secret_matches(parts->secret, second->salt, first->hash));
  EXPECT_FALSE(secret_matches(parts->secret, second->salt, second->hash));
  EXPECT_FALSE(secret_matches(parts->secret, first->salt, ""));
}

TEST(Token, TheHashHoldsNothingOfTheSecret) {
  const auto token = make_token("t");
  ASSERT_TRUE(token);
  EXPECT_EQ(token->hash.size(), 32u);
  EXPECT_EQ(token->salt.size(), 16u);
  EXPECT_EQ(token->hash.find(parse_token(token->text)->secret), std::string::npos);
}

TEST(Token, OtherTextsAreNone) {
  const std::string secret(64, 'a');
  EXPECT_TRUE(parse_token("symnas.t." + secret));
  for (const std::string& text :
       {std::string(), "symnas." + secret, "symnas.." + secret, "symnas.t." + secret.substr(1),
        "symnas.t." + secret + "0", "symnas.t." + std::string(64, 'G'), "t." + secret}) {
    EXPECT_FALSE(parse_token(text)) << text;
  }
}

TEST(Token, IsFoundInAnyText) {
  const std::string token = "symnas.t." + std::string(64, 'a');
  EXPECT_TRUE(holds_token("/v1/status?x=" + token));
  EXPECT_FALSE(holds_token("/v1/locks?path=/" + std::string(64, '0')));  // a file's name
  EXPECT_FALSE(holds_token("/v1/vnfs/symnas.t/history"));
  EXPECT_FALSE(holds_token("/v1/locks?client=" + std::string(63, 'a')));
}

}  // namespace
}  // namespace symnas::vnfsd::pki
