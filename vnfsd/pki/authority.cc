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

#include "vnfsd/pki/handles.h"

namespace symnas::vnfsd::pki {
namespace {

constexpr int kSerialBytes = 16;
constexpr int kSecurityBitsMin = 112;  // NIST SP 800-57
constexpr long kSecondsPerDay = 86'400;
constexpr long kClockSkewSeconds = 3600;

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

  Result<std::string> sign(EVP_PKEY* subject, const CertificateTerms& terms) const;
};

Result<std::string> Authority::State::sign(EVP_PKEY* subject, const CertificateTerms& terms) const {
  X509* const issuer = certificate.get();
  SYMNAS_ASSIGN(const Certificate made, prepare(terms.common_name, subject, issuer, terms.days));
  SYMNAS_TRY(add_extension(made.get(), issuer, NID_basic_constraints, "critical,CA:FALSE"));
  SYMNAS_TRY(add_extension(made.get(), issuer, NID_key_usage, "critical,digitalSignature"));
  SYMNAS_TRY(add_extension(made.get(), issuer, NID_ext_key_usage, terms.uses));
  SYMNAS_TRY(add_extension(made.get(), issuer, NID_authority_key_identifier, "keyid"));
  if (!terms.alternative_names.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : terms.alternative_names) names.push_back(alternative_name(name));
    SYMNAS_TRY(add_extension(made.get(), issuer, NID_subject_alt_name,
                             fmt::format("{}", fmt::join(names, ","))));
  }
  if (X509_sign(made.get(), key.get(), EVP_sha256()) == 0) return crypto_error("signing");
  return certificate_to_pem(made.get());
}

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
  const Bio certificate = reader_of(certificate_pem);
  const Bio key = reader_of(key_pem);
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
  Identity identity;
  SYMNAS_ASSIGN(identity.certificate_pem,
                state_->sign(key.get(), {common_name, alternative_names, "serverAuth,clientAuth",
                                         kHeadCertificateDays}));
  SYMNAS_ASSIGN(identity.key_pem, key_to_pem(key.get()));
  return identity;
}

Result<std::string> Authority::sign(std::string_view request_pem,
                                    const CertificateTerms& terms) const {
  const Bio bio = reader_of(request_pem);
  const Request request(PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
  EVP_PKEY* const key = request ? X509_REQ_get0_pubkey(request.get()) : nullptr;
  if (key == nullptr || X509_REQ_verify(request.get(), key) != 1 ||
      EVP_PKEY_get_security_bits(key) < kSecurityBitsMin) {
    ERR_clear_error();
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("certificate {}: the request cannot be read, is not signed by its own "
                            "key, or the key is too weak (ECDSA P-256 or RSA 2048 at least)",
                            terms.common_name));
  }
  return state_->sign(key, terms);
}

}  // namespace symnas::vnfsd::pki
