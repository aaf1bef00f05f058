// ApiClient: asks a vnfsd through its unix socket. Thread-compatible.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "vnfsd/api/sse_reader.h"

namespace symnas::vnfsd::api {

struct ClientOptions {
  std::string socket;
  int timeout_s = 120;  // formatting a filesystem or fencing an instance takes its time
};

class ApiClient {
 public:
  explicit ApiClient(ClientOptions options) : options_(std::move(options)) {}
  virtual ~ApiClient() = default;

  // Sets the time-out of the requests that follow: some read millions of records before they
  // answer.
  virtual void wait_at_most(int timeout_s) { options_.timeout_s = timeout_s; }
  // method: GET, POST or DELETE; path: "/v1/..."; body: ignored for GET and DELETE.
  // Errors: kShutdown (vnfsd cannot be reached), else what vnfsd answered.
  virtual Result<nlohmann::json> request(const std::string& method, const std::string& path,
                                         const nlohmann::json& body);
  // GET of a stream of server-sent events; returns when `take` wants no more. Errors: kShutdown
  // (vnfsd cannot be reached, has ended the stream, or has said nothing for kStreamSilenceS), else
  // what vnfsd answered.
  virtual Status follow(const std::string& path, const TakeServerEvent& take);
  // GET of a path that answers with text: "/metrics". Errors: kShutdown, kInternal.
  virtual Result<std::string> text(const std::string& path);

 private:
  struct Answer {
    int status = 0;
    std::string body;
  };
  Result<Answer> send(const std::string& method, const std::string& path, std::string body) const;

  ClientOptions options_;
};

}  // namespace symnas::vnfsd::api
