#include "vnfsd/http/tls.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "vnfsd/pki/handles.h"

namespace symnas::vnfsd {
namespace {

using pki::Certificate;
using Context = std::unique_ptr<SSL_CTX, pki::Freer<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, pki::Freer<SSL_free>>;

// libssl's own word for what went wrong, without anything that the peer sent.
std::string reason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* const text = code == 0 ? nullptr : ERR_reason_error_string(code);
  return text == nullptr ? "the connection ended" : text;
}

std::string hex_of(const unsigned char* bytes, std::size_t count) {
  return to_hex({reinterpret_cast<const char*>(bytes), count});
}

// Waits until the session can go on after `result`. False: it cannot, or not in time.
bool wait_for(SSL* session, int result, int fd, std::int64_t deadline_ms) {
  const int error = SSL_get_error(session, result);
  if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return false;
  return Patience::wait(fd, error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline_ms);
}

class Connection final : public TlsConnection {
 public:
  Connection(Session session, int fd, std::string address, const Deadlines& deadlines,
             std::shared_ptr<void> held)
      : session_(std::move(session)),
        fd_(fd),
        address_(std::move(address)),
        held_(std::move(held)),
        patience_(deadlines) {}

  // Takes what the peer has shown. False: nothing.
  bool take_certificate() {
    const Certificate certificate(SSL_get1_peer_certificate(session_.get()));
    if (!certificate) return false;
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (X509_digest(certificate.get(), EVP_sha256(), digest, &size) != 1) return false;
    fingerprint_ = hex_of(digest, size);
    const ASN1_INTEGER* serial = X509_get0_serialNumber(certificate.get());
    serial_ =
        hex_of(ASN1_STRING_get0_data(serial), static_cast<std::size_t>(ASN1_STRING_length(serial)));
    return true;
  }

  ssize_t read(char* into, std::size_t size) override {
    for (;;) {
      ERR_clear_error();
      std::size_t got = 0;
      const int result = SSL_read_ex(session_.get(), into, size, &got);
      if (result == 1) return static_cast<ssize_t>(got);
      if (!wait_for(session_.get(), result, fd_, patience_.read_by_ms())) return -1;
    }
  }

  ssize_t write(const char* from, std::size_t size) override {
    const std::int64_t begin_ms = Patience::now_ms();
    const std::int64_t by_ms = patience_.write_by_ms();
    for (;;) {
      ERR_clear_error();
      std::size_t put = 0;
      const int result = SSL_write_ex(session_.get(), from, size, &put);
      if (result == 1) {
        patience_.wrote(put, Patience::now_ms() - begin_ms);
        return static_cast<ssize_t>(put);
      }
      if (!wait_for(session_.get(), result, fd_, by_ms)) return -1;
    }
  }

  void finish() override {
    ERR_clear_error();
    SSL_shutdown(session_.get());  // does not wait: the descriptor does not block
  }

  const std::string& address() const override { return address_; }
  const std::string& fingerprint() const override { return fingerprint_; }
  const std::string& serial() const override { return serial_; }

 private:
  const Session session_;
  const int fd_;
  const std::string address_;
  const std::shared_ptr<void> held_;
  Patience patience_;
  std::string fingerprint_;
  std::string serial_;
};

// All certificates of the text.
Status trust(SSL_CTX* context, const std::string& authority_pem) {
  const pki::Bio bio = pki::reader_of(authority_pem);
  int count = 0;
  while (const Certificate authority{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1 ||
        SSL_CTX_add_client_CA(context, authority.get()) != 1)
      return fail(ErrorCode::kInternal, "TLS: " + reason());
    ++count;
  }
  const std::string why = reason();  // the end of the text is one, too
  if (count > 0) return {};
  return fail(ErrorCode::kInvalidArgument,
              "TLS: the authority of clients cannot be read: it is no certificate in PEM: " + why);
}

}  // namespace

struct TlsContext::State {
  Context context;
  Deadlines deadlines;
  bool clients_are_known = false;  // they need a certificate
};

TlsContext::TlsContext(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsContext::~TlsContext() = default;

Result<std::unique_ptr<TlsContext>> TlsContext::load(const std::string& certificate,
                                                     const std::string& key,
                                                     const std::string& authority_pem,
                                                     const Deadlines& deadlines) {
  for (const std::string& path : {certificate, key}) {
    if (::access(path.c_str(), R_OK) != 0) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("TLS: {} cannot be read: {}", path, std::strerror(errno)));
    }
  }
  auto state = std::make_unique<State>();
  state->deadlines = deadlines;
  state->clients_are_known = !authority_pem.empty();
  state->context.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* const context = state->context.get();
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1) {
    return fail(ErrorCode::kInternal, "TLS: " + reason());
  }
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (state->clients_are_known) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    SYMNAS_TRY(trust(context, authority_pem));
  }
  if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("TLS: {} and {} cannot be used: {}", certificate, key, reason()));
  }
  return std::unique_ptr<TlsContext>(new TlsContext(std::move(state)));
}

Result<std::unique_ptr<TlsConnection>> TlsContext::accept(int fd, std::string address,
                                                          std::shared_ptr<void> held) const {
  const std::int64_t by_ms = Patience::now_ms() + state_->deadlines.handshake_ms;
  Session session(SSL_new(state_->context.get()));
  const int flags = ::fcntl(fd, F_GETFL);
  if (!session || flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
      SSL_set_fd(session.get(), fd) != 1) {
    return fail(ErrorCode::kInternal, "TLS: " + reason());
  }
  for (;;) {
    ERR_clear_error();
    const int result = SSL_accept(session.get());
    if (result == 1) break;
    if (wait_for(session.get(), result, fd, by_ms)) continue;
    const long verified = SSL_get_verify_result(session.get());
    if (verified != X509_V_OK)
      return fail(ErrorCode::kPermission, X509_verify_cert_error_string(verified));
    return fail(ErrorCode::kIo,
                Patience::now_ms() >= by_ms ? "the handshake takes too long" : reason());
  }
  auto connection = std::make_unique<Connection>(std::move(session), fd, std::move(address),
                                                 state_->deadlines, std::move(held));
  if (state_->clients_are_known && !connection->take_certificate())
    return fail(ErrorCode::kPermission, "the peer has no certificate");
  return connection;
}

}  // namespace symnas::vnfsd
