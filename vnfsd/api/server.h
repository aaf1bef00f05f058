// ApiServer: HTTP over the unix socket. Thread class: created, started and stopped by one thread;
// serves on kApiThreads threads of its own. Invariant: only root is answered (file mode 0600, and
// SO_PEERCRED of every connection).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "vnfsd/api/router.h"

namespace symnas::vnfsd::api {

class ApiServer {
 public:
  // What GET /metrics is answered with (vnfsd/metrics). Thread-safe, and waits for nothing.
  using Metrics = std::function<std::string()>;

  // Takes the socket over from a vnfsd that is gone. Errors: kBusy (a vnfsd answers on it), kIo.
  static Result<std::unique_ptr<ApiServer>> start(const std::string& socket, Router& router,
                                                  Metrics metrics);
  // Stops serving and removes the socket; requests in progress are finished.
  ~ApiServer();

 private:
  struct State;
  explicit ApiServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace symnas::vnfsd::api
