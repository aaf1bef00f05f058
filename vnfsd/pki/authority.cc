#include "vnfsd/pki/authority.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <fmt/format.h>

namespace symnas::vnfsd::pki {
namespace {

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* p) const {
    Free(p);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Bio = std::unique_ptr<BIO, Freer<BIO_free>>;

constexpr int kSerialBytes = 16;
constexpr long kSecondsPerDay = 86'400;
constexpr long kClockSkewSeconds = 3600;

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

Result<std::string> key_to_pem(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!bio ||
      PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return crypto_error("writing a key");
  }
  return drain(bio.get());
}

Result<std::string> certificate_to_pem(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_X509(bio.get(), certificate) != 1) {
    return crypto_error("writing a certificate");
  }
  return drain(bio.get());
}

Status add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) return crypto_error(value);
  const int added = X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  if (added != 1) return crypto_error(value);
  return {};
}

Status set_serial(X509* certificate) {
  unsigned char bytes[kSerialBytes];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return crypto_error("drawing a serial number");
  bytes[0] &= 0x7f;  // positive (RFC 5280, 4.1.2.2)
  BIGNUM* number = BN_bin2bn(bytes, sizeof bytes, nullptr);
  const bool set = number != nullptr &&
                   BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  if (!set) return crypto_error("setting a serial number");
  return {};
}

// Everything but extensions and signature. issuer == nullptr: self-signed.
Result<Certificate> prepare(const std::string& common_name, EVP_PKEY* key, X509* issuer, int days) {
  Certificate certificate(X509_new());
  if (!certificate || X509_set_version(certificate.get(), X509_VERSION_3) != 1) {
    return crypto_error("making a certificate");
  }
  SYMNAS_TRY(set_serial(certificate.get()));
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kClockSkewSeconds);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kSecondsPerDay * days);
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  const auto* text = reinterpret_cast<const unsigned char*>(common_name.c_str());
  if (X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>("symnas"), -1, -1,
                                 0) != 1 ||
      X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, -1, -1, 0) != 1 ||
      X509_set_issuer_name(certificate.get(),
                           issuer != nullptr ? X509_get_subject_name(issuer) : subject) != 1 ||
      X509_set_pubkey(certificate.get(), key) != 1) {
    return crypto_error("filling a certificate");
  }
  return certificate;
}

std::string alternative_name(const std::string& name) {
  unsigned char bytes[16];
  const bool is_ip =
      inet_pton(AF_INET, name.c_str(), bytes) == 1 || inet_pton(AF_INET6, name.c_str(), bytes) == 1;
  return (is_ip ? "IP:" : "DNS:") + name;
}

}  // namespace

struct Authority::State {
  Certificate certificate;
  Key key;
  std::string certificate_pem;
  std::string key_pem;
};

Authority::Authority(std::unique_ptr<State> state) : state_(std::move(state)) {}
Authority::Authority(Authority&&) noexcept = default;
Authority& Authority::operator=(Authority&&) noexcept = default;
Authority::~Authority() = default;

const std::string& Authority::certificate_pem() const { return state_->certificate_pem; }
const std::string& Authority::key_pem() const { return state_->key_pem; }

Result<Authority> Authority::create(const std::string& common_name) {
  auto state = std::make_unique<State>();
  state->key.reset(EVP_EC_gen("P-256"));
  if (!state->key) return crypto_error("making a key");
  SYMNAS_ASSIGN(state->certificate,
                prepare(common_name, state->key.get(), nullptr, kAuthorityDays));
  X509* const certificate = state->certificate.get();
  SYMNAS_TRY(
      add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0"));
  SYMNAS_TRY(
      add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign"));
  SYMNAS_TRY(add_extension(certificate, certificate, NID_subject_key_identifier, "hash"));
  if (X509_sign(certificate, state->key.get(), EVP_sha256()) == 0) return crypto_error("signing");
  SYMNAS_ASSIGN(state->certificate_pem, certificate_to_pem(certificate));
  SYMNAS_ASSIGN(state->key_pem, key_to_pem(state->key.get()));
  return Authority(std::move(state));
}

Result<Authority> Authority::load(std::string_view certificate_pem, std::string_view key_pem) {
  auto state = std::make_unique<State>();
  const Bio certificate(
      BIO_new_mem_buf(certificate_pem.data(), static_cast<int>(certificate_pem.size())));
  const Bio key(BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size())));
  state->certificate.reset(PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr));
  state->key.reset(PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr));
  if (!state->certificate || !state->key ||
      X509_check_private_key(state->certificate.get(), state->key.get()) != 1) {
    ERR_clear_error();
    return fail(ErrorCode::kInvalidArgument,
                "certificate authority: certificate or key cannot be read, or they do not belong "
                "together (use the files that cluster init wrote)");
  }
  state->certificate_pem = certificate_pem;
  state->key_pem = key_pem;
  return Authority(std::move(state));
}

Result<Identity> Authority::issue(const std::string& common_name,
                                  const std::vector<std::string>& alternative_names) const {
  const Key key(EVP_EC_gen("P-256"));
  if (!key) return crypto_error("making a key");
  X509* const issuer = state_->certificate.get();
  SYMNAS_ASSIGN(const Certificate certificate,
                prepare(common_name, key.get(), issuer, kHeadCertificateDays));
  std::vector<std::string> names;
  for (const std::string& name : alternative_names) names.push_back(alternative_name(name));
  SYMNAS_TRY(add_extension(certificate.get(), issuer, NID_basic_constraints, "critical,CA:FALSE"));
  SYMNAS_TRY(add_extension(certificate.get(), issuer, NID_key_usage, "critical,digitalSignature"));
  SYMNAS_TRY(add_extension(certificate.get(), issuer, NID_ext_key_usage, "serverAuth,clientAuth"));
  SYMNAS_TRY(add_extension(certificate.get(), issuer, NID_authority_key_identifier, "keyid"));
  SYMNAS_TRY(add_extension(certificate.get(), issuer, NID_subject_alt_name,
                           fmt::format("{}", fmt::join(names, ","))));
  if (X509_sign(certificate.get(), state_->key.get(), EVP_sha256()) == 0) {
    return crypto_error("signing");
  }
  Identity identity;
  SYMNAS_ASSIGN(identity.certificate_pem, certificate_to_pem(certificate.get()));
  SYMNAS_ASSIGN(identity.key_pem, key_to_pem(key.get()));
  return identity;
}

}  // namespace symnas::vnfsd::pki
