#include "vnfsd/metrics/server.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/core.h>
#include <httplib.h>

#include "vnfsd/metrics/age.h"
#include "vnfsd/metrics/limits.h"
#include "vnfsd/metrics/page_file.h"

namespace symnas::vnfsd::metrics {
namespace {

void answer(const std::string& directory, httplib::Response& response) {
  auto page = read_page(directory);
  if (!page) {
    response.status = 503;
    response.set_content("vnfsd has not written its metrics yet\n", "text/plain");
    return;
  }
  response.set_content(with_age(std::move(page->text), page->age_s), "text/plain; version=0.0.4");
}

std::unique_ptr<httplib::Server> make_server(const ServerOptions& options) {
  if (options.cert.empty()) return std::make_unique<httplib::Server>();
  return std::make_unique<httplib::SSLServer>(
      options.cert.c_str(), options.key.c_str(),
      options.client_ca.empty() ? nullptr : options.client_ca.c_str());
}

}  // namespace

struct Server::State {
  std::unique_ptr<httplib::Server> server;
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::listen(const ServerOptions& options) {
  auto state = std::make_unique<State>();
  state->server = make_server(options);
  httplib::Server& server = *state->server;
  if (!server.is_valid()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("cannot use the certificate {}, its key {} or the authority {} (PEM "
                            "files are wanted)",
                            options.cert, options.key, options.client_ca));
  }
  server.new_task_queue = [] { return new httplib::ThreadPool(kServerThreads); };
  server.set_payload_max_length(1);  // no request has a body
  server.set_keep_alive_max_count(1);
  server.set_read_timeout(kRequestTimeoutS, 0);
  server.set_write_timeout(kAnswerTimeoutS, 0);
  // Not httplib's own SO_REUSEPORT, which would let a second one share the port.
  server.set_socket_options([](socket_t fd) {
    const int yes = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  if (!server.bind_to_port(options.listen.address, options.listen.port)) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot listen on {} port {}: {}", options.listen.address,
                            options.listen.port, std::strerror(errno)));
  }
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

bool Server::serve(const std::string& directory) {
  state_->server->Get("/metrics",
                      [directory](const httplib::Request&, httplib::Response& response) {
                        answer(directory, response);
                      });
  return state_->server->listen_after_bind();
}

void Server::stop() { state_->server->stop(); }

}  // namespace symnas::vnfsd::metrics
