// Gate: answers what symnas-apid hands on. Believes nothing of it but what etcd confirms: the token
// and the certificate of every request are looked up. No sockets, so that tests drive it.
// Thread-safe. docs/decisions/0018.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/env/clock.h"
#include "vnfsd/api/access.h"
#include "vnfsd/api/gate_limits.h"
#include "vnfsd/api/rate_limiter.h"
#include "vnfsd/api/router.h"
#include "vnfsd/http/http_server.h"
#include "vnfsd/http/places.h"

namespace symnas::vnfsd::api {

// What symnas-apid is told about its work.
struct ListenerTerms {
  std::vector<std::string> addresses;
  std::int64_t port = 0;
  std::int64_t connections_max = 1;
  Rate rate;  // of each address, and of each credential
};
nlohmann::json terms_to_json(const ListenerTerms& terms, const std::string& authority_pem);

class Gate {
 public:
  Gate(Router& router, AccessBackend& access, ListenerTerms terms, const env::Clock& clock)
      : router_(router),
        access_(access),
        terms_(std::move(terms)),
        clock_(clock),
        limiter_(terms_.rate, kRateKeysMax) {}

  HttpReply answer(const HttpRequest& request);

 private:
  // Server-sent events. Looks the credential up again each kGateLookMs: who is revoked is sent no
  // more.
  // under_way: the request's place, kept as long as the stream.
  HttpReply follow(const HttpRequest& request, const Credential& credential, ApiRequest asked,
                   std::shared_ptr<void> under_way);
  HttpReply listener();

  Router& router_;
  AccessBackend& access_;
  const ListenerTerms terms_;
  const env::Clock& clock_;
  RateLimiter limiter_;                  // by token
  Places requests_{kTokenRequestsMax};   // under way, streams included, by token
  Places followed_{kTokenFollowersMax};  // streams, by token
  std::atomic<std::size_t> followers_ = 0;
};

}  // namespace symnas::vnfsd::api
