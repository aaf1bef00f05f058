// Server: answers GET /metrics with the page of a directory, over HTTP or HTTPS, and nothing else.
// Thread class: made, started and destroyed by one thread; serves on kServerThreads threads of its
// own.
//
// Invariants: it reads nothing but the page, writes nothing, and keeps nothing between two
// requests; a request waits for no other process. A slow client holds a thread for kRequestMs, and
// the clients of one address hold a part of the threads only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "vnfsd/network/listen_address.h"

namespace symnas::vnfsd::metrics {

struct ServerOptions {
  ListenAddress listen;
  std::string cert;  // PEM files, read by listen(); "" = no TLS
  std::string key;
  std::string client_ca;  // PEM file: clients need a certificate of it; "" = they need none
};

class Server {
 public:
  // Binds the port and reads the files: afterwards neither needs a right any more. failed: nothing
  // is served any more. Errors: kIo (port), kNotFound, kInvalidArgument (files).
  static Result<std::unique_ptr<Server>> listen(const ServerOptions& options,
                                                std::function<void()> failed);
  ~Server();
  // Serves the page of `directory` from now on. REQUIRES: called once.
  void start(const std::string& directory);

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace symnas::vnfsd::metrics
