#include "vnfsd/pki/authority.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <gtest/gtest.h>

namespace symnas::vnfsd::pki {
namespace {

struct Parsed {
  explicit Parsed(const std::string& pem) {
    BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
    certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
  }
  ~Parsed() { X509_free(certificate); }
  X509* certificate;
};

bool verifies(const std::string& ca_pem, const std::string& pem, int purpose) {
  const Parsed ca(ca_pem);
  const Parsed leaf(pem);
  X509_STORE* store = X509_STORE_new();
  X509_STORE_add_cert(store, ca.certificate);
  X509_STORE_CTX* context = X509_STORE_CTX_new();
  X509_STORE_CTX_init(context, store, leaf.certificate, nullptr);
  X509_STORE_CTX_set_purpose(context, purpose);
  const bool good = X509_verify_cert(context) == 1;
  X509_STORE_CTX_free(context);
  X509_STORE_free(store);
  return good;
}

TEST(Authority, IssuesCertificatesThatVerifyForServerAndClient) {
  const Authority authority = *Authority::create("symnas lab");
  const Identity identity = *authority.issue("c1n1", {"10.99.0.1", "127.0.0.1", "c1n1"});
  EXPECT_TRUE(
      verifies(authority.certificate_pem(), identity.certificate_pem, X509_PURPOSE_SSL_SERVER));
  EXPECT_TRUE(
      verifies(authority.certificate_pem(), identity.certificate_pem, X509_PURPOSE_SSL_CLIENT));
  const Authority other = *Authority::create("symnas other");
  EXPECT_FALSE(
      verifies(other.certificate_pem(), identity.certificate_pem, X509_PURPOSE_SSL_SERVER));
}

TEST(Authority, NamesAreInTheCertificate) {
  const Authority authority = *Authority::create("symnas lab");
  const Identity identity = *authority.issue("c1n1", {"10.99.0.1", "c1n1"});
  const Parsed leaf(identity.certificate_pem);
  EXPECT_EQ(X509_check_ip_asc(leaf.certificate, "10.99.0.1", 0), 1);
  EXPECT_EQ(X509_check_host(leaf.certificate, "c1n1", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_ip_asc(leaf.certificate, "10.99.0.2", 0), 0);
  EXPECT_EQ(X509_check_ca(leaf.certificate), 0);
}

TEST(Authority, LoadedAuthorityIssuesTheSame) {
  const Authority authority = *Authority::create("symnas lab");
  const auto loaded = Authority::load(authority.certificate_pem(), authority.key_pem());
  ASSERT_TRUE(loaded);
  const Identity identity = *loaded->issue("c1n2", {"10.99.0.2"});
  EXPECT_TRUE(
      verifies(authority.certificate_pem(), identity.certificate_pem, X509_PURPOSE_SSL_SERVER));
}

TEST(Authority, RefusesAForeignKey) {
  const Authority one = *Authority::create("one");
  const Authority two = *Authority::create("two");
  EXPECT_EQ(Authority::load(one.certificate_pem(), two.key_pem()).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(Authority::load("", "").error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace symnas::vnfsd::pki
