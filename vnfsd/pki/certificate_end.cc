#include "vnfsd/pki/certificate_end.h"

#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdio>
#include <ctime>
#include <memory>

#include <fmt/core.h>

namespace symnas::vnfsd::pki {

Result<std::int64_t> certificate_end(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             std::fclose);
  if (!file) return fail(ErrorCode::kNotFound, fmt::format("file {}: cannot be read", path));
  const std::unique_ptr<X509, void (*)(X509*)> certificate(
      PEM_read_X509(file.get(), nullptr, nullptr, nullptr), X509_free);
  std::tm end{};
  if (!certificate || ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &end) != 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("file {}: holds no certificate in PEM form", path));
  }
  return ::timegm(&end);
}

}  // namespace symnas::vnfsd::pki
