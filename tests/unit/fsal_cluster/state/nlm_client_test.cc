#include "fsal_cluster/state/nlm_client.h"

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

TEST(NlmClientTest, TheIdentityIsReadAsItWasWritten) {
  for (const NlmClient& client : {NlmClient{"10.0.0.202", "10.0.0.101", "vm1"},
                                  NlmClient{"2001:db8::1", "2001:db8::2", "a name of words"},
                                  NlmClient{"10.0.0.202", "10.0.0.101", ""}}) {
    EXPECT_EQ(parse_nlm_client(identity_of(client)), client);
  }
}

TEST(NlmClientTest, ClientsOfOneNameOrOfTwoAddressesOfAServerAreOthers) {
  const NlmClient client{"10.0.0.202", "10.0.0.101", "localhost"};
  EXPECT_NE(identity_of(client), identity_of({"10.0.0.203", "10.0.0.101", "localhost"}));
  EXPECT_NE(identity_of(client), identity_of({"10.0.0.202", "10.0.0.102", "localhost"}));
}

TEST(NlmClientTest, WhatIsNoIdentityIsNone) {
  for (const char* text : {"", "dbhost", "10.0.0.202 10.0.0.101", " 10.0.0.101 vm1"})
    EXPECT_EQ(parse_nlm_client(text), std::nullopt) << text;
}

TEST(NlmClientTest, AnOwnerOfALockIsOfAClient) {
  const NlmClient client{"10.0.0.202", "10.0.0.101", "vm1"};
  const LockOwner owner{LockProtocol::kNlm, identity_of(client), "1"};
  EXPECT_EQ(nlm_client_of(owner), client);
  EXPECT_EQ(nlm_address_of(owner), client.address);
  EXPECT_TRUE(is_of_nlm_client(owner, client.address));
  EXPECT_FALSE(is_of_nlm_client(owner, "10.0.0.20"));
  const LockOwner of_nfs4{LockProtocol::kNfs4, identity_of(client), "1"};
  EXPECT_EQ(nlm_client_of(of_nfs4), std::nullopt);
  EXPECT_FALSE(is_of_nlm_client(of_nfs4, client.address));
  EXPECT_EQ(nlm_address_of({LockProtocol::kNlm, "client b", "bert"}), "");
}

}  // namespace
}  // namespace symnas::fs
