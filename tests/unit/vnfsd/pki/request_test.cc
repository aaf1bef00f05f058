#include "vnfsd/pki/request.h"

#include <gtest/gtest.h>

#include "vnfsd/pki/authority.h"

namespace symnas::vnfsd::pki {
namespace {

TEST(Request, IsSignedByTheAuthorityWithTheTermsGiven) {
  const auto authority = Authority::create("API of lab");
  const auto request = make_request("somebody");
  ASSERT_TRUE(authority && request);
  // The name is the authority's decision, not the request's.
  const auto pem = authority->sign(request->request_pem, {"ops", {}, "clientAuth", 1});
  ASSERT_TRUE(pem) << pem.error().message;
  const auto facts = certificate_facts(*pem);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->name, "ops");
  EXPECT_EQ(facts->fingerprint.size(), 32u);
  EXPECT_LE(facts->serial.size(), 32u);
  EXPECT_GT(facts->not_after_ns, 0);
  EXPECT_EQ(request->request_pem.find("PRIVATE"), std::string::npos);
}

TEST(Request, EveryCertificateHasASerialOfItsOwn) {
  const auto authority = Authority::create("API of lab");
  const auto request = make_request("ops");
  ASSERT_TRUE(authority && request);
  const auto first = authority->sign(request->request_pem, {"ops"});
  const auto second = authority->sign(request->request_pem, {"ops"});
  ASSERT_TRUE(first && second);
  EXPECT_NE(certificate_facts(*first)->serial, certificate_facts(*second)->serial);
}

TEST(Request, OtherTextsAreRefused) {
  const auto authority = Authority::create("API of lab");
  ASSERT_TRUE(authority);
  for (const std::string& text : {std::string(), std::string("x"), authority->certificate_pem()}) {
    const auto refused = authority->sign(text, {"ops"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(certificate_facts("nothing"));
}

}  // namespace
}  // namespace symnas::vnfsd::pki
