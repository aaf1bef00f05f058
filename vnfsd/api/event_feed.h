// EventFeed: what one reader of /v1/events/stream is sent, and when. No sockets and no clock, so
// that tests drive it. Thread-compatible.
#pragma once

#include <cstdint>
#include <string>

#include "vnfsd/api/router.h"

namespace symnas::vnfsd::api {

class EventFeed {
 public:
  // `router` outlives it. `request`: GET of the stream, whose `after` says from where on.
  EventFeed(Router& router, ApiRequest request) : router_(router), request_(std::move(request)) {}

  // What comes first; the stream is only begun if this is no error. now_ms: of a monotonic clock,
  // as below. Errors: as Router::handle().
  Result<std::string> first(std::int64_t now_ms);
  // What is to be sent now: events, a comment each kStreamHeartbeatMs, or "" = nothing. Asks etcd
  // each kStreamLookMs at most; that it does not answer is a comment, and nothing is missed by it.
  std::string next(std::int64_t now_ms);

 private:
  Result<std::string> look(std::int64_t now_ms);

  Router& router_;
  ApiRequest request_;
  std::int64_t looked_ms_ = 0;
  std::int64_t sent_ms_ = 0;
};

}  // namespace symnas::vnfsd::api
