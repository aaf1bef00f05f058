#include "vnfsd/pki/handles.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <fmt/format.h>

namespace symnas::vnfsd::pki {

tl::unexpected<Error> crypto_error(std::string_view what) {
  char text[256] = "no detail";
  const unsigned long code = ERR_get_error();
  if (code != 0) ERR_error_string_n(code, text, sizeof text);
  return fail(ErrorCode::kInternal, fmt::format("certificate: {} failed: {}", what, text));
}

std::string drain(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

Bio reader_of(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Result<std::string> key_to_pem(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!bio ||
      PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return crypto_error("writing a key");
  }
  return drain(bio.get());
}

}  // namespace symnas::vnfsd::pki
