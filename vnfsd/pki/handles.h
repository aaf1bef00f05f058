// Owners of libcrypto's objects, for what uses them: this folder and vnfsd/apid.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace symnas::vnfsd::pki {

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* p) const {
    Free(p);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Request = std::unique_ptr<X509_REQ, Freer<X509_REQ_free>>;
using Bio = std::unique_ptr<BIO, Freer<BIO_free>>;

// kInternal, with libcrypto's own message.
tl::unexpected<Error> crypto_error(std::string_view what);
Result<std::string> key_to_pem(EVP_PKEY* key);
// What was written to a BIO in memory.
std::string drain(BIO* bio);
Bio reader_of(std::string_view text);

}  // namespace symnas::vnfsd::pki
