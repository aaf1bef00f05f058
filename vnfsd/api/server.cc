#include "vnfsd/api/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <thread>

#include <fmt/core.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "vnfsd/api/limits.h"
#include "vnfsd/api/wire.h"

namespace symnas::vnfsd::api {
namespace {

constexpr int kIoTimeoutMs = 10'000;  // a client that stalls in the middle of a request is dropped

// httplib's own socket stream is not part of its header.
class SocketStream final : public httplib::Stream {
 public:
  explicit SocketStream(int fd) : fd_(fd) {}
  bool is_readable() const override { return wait(POLLIN); }
  bool is_writable() const override { return wait(POLLOUT); }
  ssize_t read(char* into, std::size_t size) override {
    return is_readable() ? ::recv(fd_, into, size, 0) : -1;
  }
  ssize_t write(const char* from, std::size_t size) override {
    return is_writable() ? ::send(fd_, from, size, MSG_NOSIGNAL) : -1;
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return fd_; }

 private:
  bool wait(short events) const {
    pollfd entry{fd_, events, 0};
    return ::poll(&entry, 1, kIoTimeoutMs) == 1;
  }
  int fd_;
};

bool peer_is_root(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == 0;
}

// Answers only root, one request per connection.
class RootOnlyServer final : public httplib::Server {
 private:
  // httplib 0.11 of Debian 12, and 0.18 of Debian 13, which wants the peers' names, too. A template
  // so that only one of the calls has to exist.
  template <typename Self>
  static bool serve(Self& self, httplib::Stream& stream, bool& closed) {
    if constexpr (requires { self.process_request(stream, true, closed, nullptr); }) {
      return self.process_request(stream, true, closed, nullptr);
    } else {
      return self.process_request(stream, "", 0, "", 0, true, closed, nullptr);
    }
  }

  bool process_and_close_socket(socket_t fd) override {
    bool served = false;
    if (peer_is_root(fd)) {
      SocketStream stream(fd);
      bool closed = false;
      served = serve(*this, stream, closed);
    } else {
      log::warn("API: a connection of a user other than root was refused");
    }
    ::shutdown(fd, SHUT_RDWR);
    ::close(fd);
    return served;
  }
};

// From the beginning unless it is a number.
Revision revision_of(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return Revision(std::max<std::int64_t>(value, 0));
}

void answer(Router& router, const httplib::Request& request, httplib::Response& response) {
  if (request.path == "/metrics") {
    response.set_content(router.metrics(), "text/plain; version=0.0.4");
    return;
  }
  ApiRequest api{request.method, request.path, request.body, Mode::kCommit};
  if (request.get_param_value("dry_run") == "true") api.mode = Mode::kDryRun;
  for (const auto& [name, value] : request.params)
    if (name != "dry_run" && name != "yes" && name != "after") api.query[name] = value;
  if (request.get_param_value("yes") == "true") api.consent = Consent::kYes;
  api.after = revision_of(request.get_param_value("after"));
  const auto result = router.handle(api);
  response.status = result ? 200 : http_status(result.error().code);
  const nlohmann::json document = result ? *result : error_to_json(result.error());
  // Names of devices need not be UTF-8; an answer has to be.
  response.set_content(
      document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n",
      "application/json");
}

}  // namespace

struct ApiServer::State {
  std::string socket;
  int lock_fd = -1;
  RootOnlyServer server;
  std::thread thread;
};

ApiServer::ApiServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<ApiServer>> ApiServer::start(const std::string& socket, Router& router) {
  auto state = std::make_unique<State>();
  state->socket = socket;
  const std::string lock_path = socket + ".lock";
  state->lock_fd = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (state->lock_fd < 0) {
    return fail(ErrorCode::kIo,
                fmt::format("socket {}: cannot make {}: {} (does its directory exist?)", socket,
                            lock_path, std::strerror(errno)));
  }
  if (::flock(state->lock_fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(state->lock_fd);
    return fail(ErrorCode::kBusy,
                fmt::format("socket {}: another vnfsd of this head is running (one "
                            "vnfsd per run_dir)",
                            socket));
  }
  ::unlink(socket.c_str());  // left by a vnfsd that is gone: we hold its lock
  RootOnlyServer& server = state->server;
  server.set_address_family(AF_UNIX);
  server.set_payload_max_length(kRequestBytesMax);
  server.new_task_queue = [] { return new httplib::ThreadPool(kApiThreads); };
  const auto handler = [&router](const httplib::Request& request, httplib::Response& response) {
    answer(router, request, response);
  };
  server.Get(".*", handler);
  server.Post(".*", handler);
  server.Delete(".*", handler);
  const mode_t old_mask = ::umask(0177);
  const bool bound = server.bind_to_port(socket, 80);
  ::umask(old_mask);
  if (!bound) {
    const int error = errno;
    ::close(state->lock_fd);
    return fail(ErrorCode::kIo,
                fmt::format("socket {}: cannot listen: {} (paths of sockets end at 107 "
                            "characters)",
                            socket, std::strerror(error)));
  }
  state->thread = std::thread([raw = state.get()] { raw->server.listen_after_bind(); });
  return std::unique_ptr<ApiServer>(new ApiServer(std::move(state)));
}

ApiServer::~ApiServer() {
  if (!state_) return;
  ::unlink(state_->socket.c_str());
  while (!state_->server.is_running()) std::this_thread::yield();
  state_->server.stop();
  state_->thread.join();
  ::close(state_->lock_fd);
}

}  // namespace symnas::vnfsd::api
