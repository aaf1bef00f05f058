#include "vnfsd/pki/certificate_end.h"

#include <ctime>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "vnfsd/pki/authority.h"

namespace symnas::vnfsd::pki {
namespace {

TEST(CertificateEnd, IsThatOfTheCertificateInTheFile) {
  const std::string path = testing::TempDir() + "symnas-certificate-end";
  const Authority authority = *Authority::create("symnas lab");
  std::ofstream(path) << authority.issue("c1n1", {"10.99.0.1"})->certificate_pem;
  const auto end_s = certificate_end(path);
  ASSERT_TRUE(end_s);
  EXPECT_NEAR(static_cast<double>(*end_s - std::time(nullptr)) / 86'400, kHeadCertificateDays, 1);
  std::ofstream(path) << "no certificate\n";
  EXPECT_EQ(certificate_end(path).error().code, ErrorCode::kInvalidArgument);
  std::filesystem::remove(path);
  EXPECT_EQ(certificate_end(path).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace symnas::vnfsd::pki
