// Listener: what symnas-apid does with a connection: whom it lets in to TLS, what it refuses by
// itself, and what it hands to vnfsd. Decides nothing about who may do what: that is vnfsd's
// (vnfsd/api/gate.h). Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/env/clock.h"
#include "vnfsd/api/gate_client.h"
#include "vnfsd/api/rate_limiter.h"
#include "vnfsd/http/http_server.h"
#include "vnfsd/http/places.h"
#include "vnfsd/http/tls.h"

namespace symnas::vnfsd::apid {

// What vnfsd says that symnas-apid is to do ([api] of vnfsd.toml).
struct Terms {
  std::vector<std::string> addresses;
  int port = 0;
  std::size_t connections_max = 1;
  api::Rate rate;
  std::string authority_pem;
};
// Errors: kInvalidArgument.
Result<Terms> terms_from_json(const std::string& text);

// A client that TLS has let in. Confined to one thread.
class ClientConnection final : public HttpConnection {
 public:
  // place: of its certificate, kept as long as the connection; null: there was none left.
  ClientConnection(std::unique_ptr<TlsConnection> tls, std::shared_ptr<void> place)
      : tls_(std::move(tls)), place_(std::move(place)) {}
  ssize_t read(char* into, std::size_t size) override { return tls_->read(into, size); }
  ssize_t write(const char* from, std::size_t size) override { return tls_->write(from, size); }
  void finish() override { tls_->finish(); }
  const TlsConnection& tls() const { return *tls_; }
  bool has_place() const { return place_ != nullptr; }

 private:
  const std::unique_ptr<TlsConnection> tls_;
  const std::shared_ptr<void> place_;
};

class Listener {
 public:
  Listener(const TlsContext& tls, const api::GateClient& vnfsd, const Terms& terms,
           const env::Clock& clock);

  // As in HttpServerParts; the connections are ClientConnections.
  std::unique_ptr<HttpConnection> connect(int fd);
  std::optional<HttpReply> check(const HttpRequest& header);
  HttpReply answer(const HttpRequest& request) const;

 private:
  // Connections at once that one address, or one certificate, has at most.
  static std::size_t share_of(const Terms& terms);
  void log_refusal(const std::string& address, const std::string& why);

  const TlsContext& tls_;
  const api::GateClient& vnfsd_;
  const env::Clock& clock_;
  api::RateLimiter connections_;   // by address
  api::RateLimiter addresses_;     // by address: requests
  api::RateLimiter certificates_;  // by fingerprint: requests
  api::RateLimiter lines_;
  Places open_by_address_;
  Places open_by_certificate_;
};

}  // namespace symnas::vnfsd::apid
