// GateClient: what symnas-apid uses to ask vnfsd, through vnfsd's second socket. Thread-safe.
#pragma once

#include <string>

#include "vnfsd/http/http_server.h"

namespace symnas::vnfsd::api {

class GateClient {
 public:
  explicit GateClient(std::string socket) : socket_(std::move(socket)) {}

  // Sends the request with exactly these headers; waits at most timeout_s for the answer. A vnfsd
  // that does not answer is a reply, too: 503 (nothing was done) or 504 (nobody knows).
  HttpReply ask(const HttpRequest& request, int timeout_s) const;
  // A reply of that type that hands on what vnfsd sends, as it comes, until either side ends it, or
  // nothing comes for kFollowSilenceS. REQUIRES: ask() has shown that the request is answered.
  HttpReply follow(const HttpRequest& request, std::string type) const;

 private:
  const std::string socket_;
};

}  // namespace symnas::vnfsd::api
