#include "vnfsd/pki/sealed_box.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::pki {
namespace {

const std::string kSecret = "a keytab, and its keys";

class SealedBoxTest : public testing::Test {
 protected:
  BoxKey one = *make_box_key();
  BoxKey other = *make_box_key();
  SealedBox sealed =
      *seal(kSecret, "keytab vnfs1", {{"h1", one.public_key}, {"h2", other.public_key}});
};

TEST_F(SealedBoxTest, EachHeadOpensIt) {
  EXPECT_EQ(unseal(sealed, "keytab vnfs1", "h1", one).value_or(""), kSecret);
  EXPECT_EQ(unseal(sealed, "keytab vnfs1", "h2", other).value_or(""), kSecret);
}

TEST_F(SealedBoxTest, NobodyElseDoes) {
  const auto stranger = make_box_key();
  ASSERT_TRUE(stranger);
  EXPECT_EQ(unseal(sealed, "keytab vnfs1", "h3", *stranger).error().code, ErrorCode::kPermission);
  EXPECT_EQ(unseal(sealed, "keytab vnfs1", "h1", *stranger).error().code, ErrorCode::kPermission);
  EXPECT_EQ(unseal(sealed, "keytab vnfs1", "h2", one).error().code, ErrorCode::kPermission);
}

TEST_F(SealedBoxTest, ItIsAboutWhatItWasSealedFor) {
  EXPECT_FALSE(unseal(sealed, "keytab vnfs2", "h1", one));
  SealedBox mixed = *seal("another", "keytab vnfs1", {{"h1", one.public_key}});
  mixed.box = sealed.box;
  EXPECT_EQ(unseal(mixed, "keytab vnfs1", "h1", one).error().code, ErrorCode::kCorrupt);
}

TEST_F(SealedBoxTest, AChangedByteIsNoticed) {
  for (std::size_t at = 0; at < sealed.box.size(); ++at) {
    SealedBox changed = sealed;
    changed.box[at] = static_cast<char>(changed.box[at] ^ 1);
    EXPECT_FALSE(unseal(changed, "keytab vnfs1", "h1", one)) << at;
  }
  for (std::size_t at = 0; at < sealed.wraps["h1"].size(); ++at) {
    SealedBox changed = sealed;
    changed.wraps["h1"][at] = static_cast<char>(changed.wraps["h1"][at] ^ 1);
    EXPECT_FALSE(unseal(changed, "keytab vnfs1", "h1", one)) << at;
  }
  SealedBox cut = sealed;
  cut.box.resize(20);
  EXPECT_FALSE(unseal(cut, "keytab vnfs1", "h1", one));
}

TEST_F(SealedBoxTest, AHeadWhoseKeyIsNoneIsLeftOut) {
  const auto box =
      seal("s", "a",
           {{"h1", one.public_key}, {"h2", "no key"}, {"h3", std::string(kBoxKeyBytes, '\0')}});
  ASSERT_TRUE(box) << box.error().message;
  EXPECT_EQ(box->wraps.size(), 1U);
  EXPECT_EQ(*unseal(*box, "a", "h1", one), "s");
}

TEST_F(SealedBoxTest, HoldsNothingInClear) {
  EXPECT_EQ(sealed.box.find(kSecret), std::string::npos);
  EXPECT_NE(sealed.box, seal(kSecret, "keytab vnfs1", {{"h1", one.public_key}})->box);
}

TEST(BoxKeys, AreOfOneLength) {
  EXPECT_EQ(box_key_of("short").error().code, ErrorCode::kInvalidArgument);
  const auto key = make_box_key();
  ASSERT_TRUE(key);
  EXPECT_EQ(box_key_of(key->secret)->public_key, key->public_key);
  EXPECT_FALSE(seal("s", "a", {{"h", "no key"}}));
}

}  // namespace
}  // namespace symnas::vnfsd::pki
