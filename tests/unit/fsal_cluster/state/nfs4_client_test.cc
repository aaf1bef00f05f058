#include "fsal_cluster/state/nfs4_client.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

using namespace std::literals;

TEST(Nfs4Client, WithoutKerberosItIsItsOwnWords) {
  EXPECT_EQ(identity_of({"Linux NFSv4.2 c1", ""}), "Linux NFSv4.2 c1");
  EXPECT_EQ(identity_of({"a\0b"s, ""}), "a\0b"s);
  EXPECT_EQ(identity_of({"c", "nfs/c@R"}), "c\0krb5\0nfs/c@R"s);
}

TEST(Nfs4Client, NobodyLooksLikeAnother) {
  const std::vector<Nfs4Client> clients{{"c", ""},          {"c", "a@R"},
                                        {"c", "b@R"},       {"c\0krb5\0a@R"s, ""},
                                        {"c\0krb5\0"s, ""}, {"c\0krb5\0a@R"s, "a@R"},
                                        {"", "a@R"},        {"", ""},
                                        {"c\0krb5"s, ""},   {"c\0krb5"s, "a@R"}};
  std::set<std::string> identities;
  for (const Nfs4Client& client : clients) {
    const std::string identity = identity_of(client);
    EXPECT_TRUE(identities.insert(identity).second) << identity;
    EXPECT_EQ(parse_nfs4_client(identity), client) << identity;
  }
}

}  // namespace
}  // namespace symnas::fs
