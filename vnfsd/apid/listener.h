// Listener: what symnas-apid does with a connection: whom it lets in to TLS, what it refuses by
// itself, and what it hands to vnfsd. Decides nothing about who may do what: that is vnfsd's
// (vnfsd/api/gate.h). Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "common/env/clock.h"
#include "vnfsd/api/gate_client.h"
#include "vnfsd/api/http_server.h"
#include "vnfsd/api/rate_limiter.h"
#include "vnfsd/apid/tls.h"

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

class Listener {
 public:
  Listener(const TlsContext& tls, const api::GateClient& vnfsd, const Terms& terms,
           const env::Clock& clock);

  // As in HttpServerParts.
  std::unique_ptr<api::HttpConnection> connect(int fd);
  std::optional<api::HttpReply> check(const api::HttpRequest& header);
  api::HttpReply answer(const api::HttpRequest& request) const;

 private:
  // Counts a connection of that address until the result is gone; null: it has too many.
  std::shared_ptr<void> count_in(const std::string& key);
  void log_refusal(const std::string& address, const std::string& why);

  const TlsContext& tls_;
  const api::GateClient& vnfsd_;
  const env::Clock& clock_;
  api::RateLimiter connections_;   // by address
  api::RateLimiter addresses_;     // by address: requests
  api::RateLimiter certificates_;  // by fingerprint: requests
  api::RateLimiter lines_;
  const std::size_t per_address_max_;
  Mutex mutex_;                                                 // leaf
  std::map<std::string, std::size_t> open_ GUARDED_BY(mutex_);  // by address
};

// The key under which an address is limited: of IPv6 its first 64 bits, which are one customer's.
std::string limit_key(const std::string& address);

}  // namespace symnas::vnfsd::apid
