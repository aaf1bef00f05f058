#include "vnfsd/pki/request.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>

#include <fmt/format.h>

#include "vnfsd/pki/handles.h"

namespace symnas::vnfsd::pki {
namespace {

std::string hex_of(const unsigned char* bytes, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += fmt::format("{:02x}", bytes[i]);
  return out;
}

}  // namespace

Result<KeyAndRequest> make_request(const std::string& common_name) {
  const Key key(EVP_EC_gen("P-256"));
  if (!key) return crypto_error("making a key");
  const Request request(X509_REQ_new());
  if (!request || X509_REQ_set_version(request.get(), 0) != 1 ||
      X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(request.get()), "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(common_name.c_str()), -1,
                                 -1, 0) != 1 ||
      X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) == 0) {
    return crypto_error("making a request");
  }
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_X509_REQ(bio.get(), request.get()) != 1)
    return crypto_error("writing a request");
  KeyAndRequest made;
  made.request_pem = drain(bio.get());
  SYMNAS_ASSIGN(made.key_pem, key_to_pem(key.get()));
  return made;
}

Result<CertificateFacts> certificate_facts(std::string_view pem) {
  const Bio bio = reader_of(pem);
  const Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (!certificate) {
    ERR_clear_error();
    return fail(ErrorCode::kInvalidArgument, "certificate: cannot be read (PEM is wanted)");
  }
  CertificateFacts facts;
  char name[256] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name,
                            sizeof name);
  facts.name = name;
  const ASN1_INTEGER* serial = X509_get0_serialNumber(certificate.get());
  facts.serial =
      hex_of(ASN1_STRING_get0_data(serial), static_cast<std::size_t>(ASN1_STRING_length(serial)));
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (X509_digest(certificate.get(), EVP_sha256(), digest, &size) != 1)
    return crypto_error("hashing a certificate");
  facts.fingerprint.assign(reinterpret_cast<const char*>(digest), size);
  std::tm end{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &end) != 1)
    return crypto_error("reading a certificate's end");
  facts.not_after_ns = static_cast<std::int64_t>(::timegm(&end)) * 1'000'000'000;
  return facts;
}

}  // namespace symnas::vnfsd::pki
