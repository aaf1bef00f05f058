#include "vnfsd/api/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>

#include <fmt/core.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "common/env/clock.h"
#include "vnfsd/api/event_feed.h"
#include "vnfsd/api/event_stream.h"
#include "vnfsd/api/limits.h"
#include "vnfsd/api/login.h"
#include "vnfsd/api/routes.h"
#include "vnfsd/api/wire.h"

namespace symnas::vnfsd::api {
namespace {

constexpr int kStreamStepsToEnd = 20;  // streams are told to end, and cut off after that
constexpr int kIoTimeoutMs = 10'000;   // a client that stalls in the middle of a request is dropped

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

// Of the connection that this thread serves: who has logged in there.
thread_local std::string login_uid;

bool peer_is_root(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != 0) return false;
  login_uid = login_uid_of(peer.pid);
  return true;
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

// The readers of the event stream. Thread-safe.
struct Streams {
  std::atomic<int> count = 0;
  std::atomic<bool> ending = false;
};

// One of kStreamsMax places for as long as it lives.
class Place {
 public:
  explicit Place(Streams& streams) : streams_(streams), got_(++streams.count <= kStreamsMax) {}
  ~Place() { --streams_.count; }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  bool got() const { return got_; }

 private:
  Streams& streams_;
  const bool got_;
};

std::int64_t now_ms() { return env::system_clock().mono_ns() / 1'000'000; }

void set_document(httplib::Response& response, const nlohmann::json& document) {
  // Names of devices need not be UTF-8; an answer has to be.
  response.set_content(
      document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n",
      "application/json");
}

void answer_error(const httplib::Request& request, httplib::Response& response,
                  const Error& error) {
  response.status = http_status(error.code);
  if (error.code == ErrorCode::kNotSupported &&
      find_route(request.method, request.path).route == nullptr) {
    const std::string methods = methods_of(request.path);
    response.status = methods.empty() ? 404 : 405;
    if (!methods.empty()) response.set_header("Allow", methods);
  }
  set_document(response, error_to_json(error));
}

// A reader that takes nothing for kIoTimeoutMs is dropped: nothing is kept for it, it may come
// again with the last id that it has read.
void stream(Router& router, Streams& streams, ApiRequest& api, const httplib::Request& request,
            httplib::Response& response) {
  const auto place = std::make_shared<Place>(streams);
  if (!place->got()) {
    return answer_error(request, response,
                        {ErrorCode::kUnavailable,
                         fmt::format("events: {} readers follow them on this head already (ask "
                                     "another head, or GET /v1/events)",
                                     kStreamsMax)});
  }
  if (request.has_header("Last-Event-ID")) {
    const auto last = parse_event_id(request.get_header_value("Last-Event-ID"));
    if (!last) {
      return answer_error(request, response,
                          {ErrorCode::kInvalidArgument, "events: Last-Event-ID is no revision"});
    }
    api.after = *last;
  }
  const auto feed = std::make_shared<EventFeed>(router, api);
  auto first = feed->first(now_ms());
  if (!first) return answer_error(request, response, first.error());
  response.set_header("Cache-Control", "no-store");
  response.set_chunked_content_provider(
      "text/event-stream", [&streams, place, feed, text = std::move(*first)](
                               std::size_t, httplib::DataSink& sink) mutable {
        if (!text.empty() && !sink.write(text.data(), text.size())) return false;
        if (streams.ending) {
          sink.done();
          return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(kStreamStepMs));
        // httplib catches nothing here: a mistake in one stream would end vnfsd.
        try {
          text = feed->next(now_ms());
        } catch (const std::exception& error) {
          log::error("API: a stream of events has ended in the middle: {}", error.what());
          return false;
        }
        return true;
      });
}

// What httplib refuses by itself: too large, not HTTP.
void tell_refusal(const httplib::Request& request, httplib::Response& response) {
  if (!response.body.empty()) return;
  int status = response.status;
  const bool is_other_method = status == 400 && !methods_of(request.path).empty() &&
                               find_route(request.method, request.path).route == nullptr;
  if (is_other_method) {
    status = 405;
    response.set_header("Allow", methods_of(request.path));
  }
  const bool is_large = status == 413 || status == 414 || status == 431;
  answer_error(request, response,
               {is_large ? ErrorCode::kTooLarge : ErrorCode::kInvalidArgument,
                is_large ? fmt::format("API: the request is too large (a body may have {} bytes)",
                                       kRequestBytesMax)
                         : fmt::format("API: HTTP status {}", status)});
  response.status = status;
}

void answer(Router& router, Streams& streams, const httplib::Request& request,
            httplib::Response& response) {
  auto api = request_of(request.method, request.path, request.body, request.params);
  if (api) {
    api->caller = root_caller();  // nobody else gets here
    api->caller.login_uid = login_uid;
    if (request.path == kEventStreamPath && request.method == "GET")
      return stream(router, streams, *api, request, response);
  }
  const auto result = api ? router.handle(*api) : tl::unexpected<Error>(std::move(api.error()));
  if (!result) return answer_error(request, response, result.error());
  const nlohmann::json& document = *result;
  response.status = 200;
  if (api->is_for_a_job() && document.contains("job")) {
    response.status = 202;
    response.set_header("Location", fmt::format("/v1/jobs/{}", document["job"].value("id", 0)));
  }
  set_document(response, document);
}

}  // namespace

struct ApiServer::State {
  std::string socket;
  int lock_fd = -1;
  Streams streams;
  RootOnlyServer server;
  std::thread thread;
};

ApiServer::ApiServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<ApiServer>> ApiServer::start(const std::string& socket, Router& router,
                                                    Metrics metrics) {
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
  server.new_task_queue = [] { return new httplib::ThreadPool(kApiThreads + kStreamsMax); };
  const auto handler = [&router, &streams = state->streams](const httplib::Request& request,
                                                            httplib::Response& response) {
    answer(router, streams, request, response);
  };
  server.Get("/metrics",
             [metrics = std::move(metrics)](const httplib::Request&, httplib::Response& response) {
               response.set_content(metrics(), "text/plain; version=0.0.4");
             });
  server.Get(".*", handler);
  server.Post(".*", handler);
  server.Delete(".*", handler);
  server.Put(".*", handler);
  server.Patch(".*", handler);
  server.Options(".*", handler);
  server.set_error_handler(tell_refusal);
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
  state_->streams.ending = true;
  for (int i = 0; i < kStreamStepsToEnd && state_->streams.count > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(kStreamStepMs));
  state_->server.stop();
  state_->thread.join();
  ::close(state_->lock_fd);
}

}  // namespace symnas::vnfsd::api
