#include "vnfsd/metrics/server.h"

#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "vnfsd/http/http_server.h"
#include "vnfsd/http/peer.h"
#include "vnfsd/http/places.h"
#include "vnfsd/http/tls.h"
#include "vnfsd/metrics/age.h"
#include "vnfsd/metrics/limits.h"
#include "vnfsd/metrics/page_file.h"

namespace symnas::vnfsd::metrics {
namespace {

constexpr Deadlines kDeadlines = {kHandshakeMs, kRequestMs, kAnswerMs, kSlowestBytesPerS};

HttpReply text(int status, std::string body, std::string type = "text/plain") {
  return {status, std::move(body), std::move(type)};
}

std::optional<HttpReply> check(const HttpRequest& header) {
  if (header.path == "/metrics" && (header.method == "GET" || header.method == "HEAD"))
    return std::nullopt;
  return text(404, "symnas-metrics: only GET /metrics is answered\n");
}

// "" of no file.
Result<std::string> read_authority(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path);
  std::string pem((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  // Nothing would mean that clients need no certificate.
  if (pem.empty())
    return fail(ErrorCode::kNotFound,
                fmt::format("client_ca {}: cannot be read, or is empty", path));
  return pem;
}

HttpReply answer(const std::string& directory) {
  auto page = read_page(directory);
  if (!page) return text(503, "vnfsd has not written its metrics yet\n");
  return text(200, with_age(std::move(page->text), page->age_s), "text/plain; version=0.0.4");
}

}  // namespace

struct Server::State {
  std::unique_ptr<HttpConnection> connect(int fd) {
    const std::string address = peer_address(fd);
    auto place = addresses.take(limit_key(address));
    if (!place) return nullptr;
    if (!tls) return plain_connection(fd, kDeadlines, std::move(place));
    auto connection = tls->accept(fd, address, std::move(place));
    return connection ? std::move(*connection) : nullptr;
  }

  std::unique_ptr<TlsContext> tls;  // null: none
  Places addresses{kAddressConnectionsMax};
  std::string directory;
  std::unique_ptr<HttpServer> http;  // last
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::listen(const ServerOptions& options,
                                               std::function<void()> failed) {
  auto state = std::make_unique<State>();
  if (!options.cert.empty()) {
    SYMNAS_ASSIGN(const std::string authority, read_authority(options.client_ca));
    SYMNAS_ASSIGN(state->tls, TlsContext::load(options.cert, options.key, authority, kDeadlines));
  }
  HttpServerParts parts;
  parts.connect = [raw = state.get()](int fd) { return raw->connect(fd); };
  parts.check = check;
  parts.answer = [raw = state.get()](const HttpRequest&) { return answer(raw->directory); };
  parts.refuse = [](int status) {
    return text(status, fmt::format("not a request that can be understood (status {})\n", status));
  };
  parts.failed = std::move(failed);
  parts.threads = kServerThreads;
  parts.waiting_max = kServerWaitingMax;
  parts.body_bytes_max = 1;  // no request has a body
  SYMNAS_ASSIGN(state->http, HttpServer::on_address(options.listen.address, options.listen.port,
                                                    std::move(parts)));
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

void Server::start(const std::string& directory) {
  state_->directory = directory;
  state_->http->start();
}

}  // namespace symnas::vnfsd::metrics
