#include "vnfsd/http/http_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <httplib.h>

#include "common/base/log.h"
#include "common/base/thread_annotations.h"
#include "vnfsd/http/limits.h"

namespace symnas::vnfsd {
namespace {

class PlainConnection final : public HttpConnection {
 public:
  PlainConnection(int fd, const Deadlines& deadlines, std::shared_ptr<void> held)
      : fd_(fd), patience_(deadlines), held_(std::move(held)) {}
  ssize_t read(char* into, std::size_t size) override {
    return Patience::wait(fd_, POLLIN, patience_.read_by_ms()) ? ::recv(fd_, into, size, 0) : -1;
  }
  ssize_t write(const char* from, std::size_t size) override {
    const std::int64_t begin_ms = Patience::now_ms();
    if (!Patience::wait(fd_, POLLOUT, patience_.write_by_ms())) return -1;
    const ssize_t put = ::send(fd_, from, size, MSG_NOSIGNAL);
    if (put > 0) patience_.wrote(static_cast<std::size_t>(put), Patience::now_ms() - begin_ms);
    return put;
  }
  void finish() override {}

 private:
  const int fd_;
  Patience patience_;
  const std::shared_ptr<void> held_;
};

// Between httplib and a connection; ends a request whose header or body never ends.
class ConnectionStream final : public httplib::Stream {
 public:
  ConnectionStream(HttpConnection& connection, int fd)
      : connection_(connection), fd_(fd), left_(kHeaderBytesMax) {}
  // The header is over: so much may follow.
  void allow(std::size_t bytes) { left_ = bytes; }
  HttpConnection& connection() { return connection_; }
  bool is_readable() const override { return left_ > 0; }
  bool is_writable() const override { return true; }
  // Through a buffer: httplib reads headers byte by byte.
  ssize_t read(char* into, std::size_t size) override {
    if (begin_ == end_) {
      const ssize_t got = connection_.read(buffer_, std::min(sizeof buffer_, left_));
      if (got <= 0) return got;
      begin_ = 0;
      end_ = static_cast<std::size_t>(got);
      left_ -= end_;
    }
    const std::size_t count = std::min(size, end_ - begin_);
    std::memcpy(into, buffer_ + begin_, count);
    begin_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    return connection_.write(from, size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return fd_; }

 private:
  HttpConnection& connection_;
  const int fd_;
  std::size_t left_;
  char buffer_[4096];
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// True on a thread while it takes a connection that nobody has time for.
thread_local bool refusing = false;
// What this thread serves.
thread_local ConnectionStream* serving = nullptr;

// Threads with a bounded queue. httplib's own pool queues whatever is accepted.
class BoundedQueue final : public httplib::TaskQueue {
 public:
  BoundedQueue(std::size_t threads, std::size_t waiting_max)
      : waiting_max_(waiting_max), idle_(threads) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  // httplib 0.11 of Debian 12 returns nothing, later ones whether the job was taken.
  using Taken = decltype(std::declval<httplib::TaskQueue&>().enqueue(std::function<void()>()));
  Taken enqueue(std::function<void()> job) override {
    {
      const MutexLock lock(mutex_);
      if (jobs_.size() < waiting_max_ + idle_) {
        jobs_.push_back(std::move(job));
        job = nullptr;
      }
    }
    if (job) {
      refusing = true;
      job();  // only closes the socket
      refusing = false;
    }
    changed_.notify_one();
    return Taken(true);
  }
  void shutdown() override {
    {
      const MutexLock lock(mutex_);
      end_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void work() {
    MutexLock lock(mutex_);
    for (;;) {
      while (jobs_.empty() && !end_) changed_.wait(lock);
      --idle_;
      if (jobs_.empty()) return;
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
      ++idle_;
    }
  }

  const std::size_t waiting_max_;
  Mutex mutex_;  // leaf
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> jobs_ GUARDED_BY(mutex_);
  std::size_t idle_ GUARDED_BY(mutex_);  // threads without a job
  bool end_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

class Server final : public httplib::Server {
 public:
  explicit Server(const HttpServerParts& parts) : parts_(parts) {}
  // httplib asks the kernel for 5.
  bool listen_longer() { return ::listen(svr_sock_, kBacklog) == 0; }
  // Of a server that was bound and never began to serve.
  void close_unserved() {
    if (const socket_t fd = svr_sock_.exchange(INVALID_SOCKET); fd != INVALID_SOCKET) ::close(fd);
  }

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

  // Reads what the peer is still sending, for a moment: closing before that would reset the
  // connection, and the answer with it.
  static void linger(HttpConnection& connection, int fd) {
    connection.finish();
    ::shutdown(fd, SHUT_WR);
    char rest[4096];
    for (std::size_t left = kLingerBytesMax; left > 0;) {
      pollfd entry{fd, POLLIN, 0};
      if (::poll(&entry, 1, kLingerMs) != 1) return;
      const ssize_t got = connection.read(rest, std::min(sizeof rest, left));
      if (got <= 0) return;
      left -= static_cast<std::size_t>(got);
    }
  }

  bool process_and_close_socket(socket_t fd) override {
    bool served = false;
    if (!refusing) {
      if (const auto connection = parts_.connect(fd)) {
        ConnectionStream stream(*connection, fd);
        bool closed = false;
        serving = &stream;
        served = serve(*this, stream, closed);
        serving = nullptr;
        linger(*connection, fd);
      }
    }
    ::shutdown(fd, SHUT_RDWR);
    ::close(fd);
    return served;
  }

  const HttpServerParts& parts_;
};

HttpRequest from(const httplib::Request& request) {
  HttpRequest out;
  out.method = request.method;
  out.target = request.target;
  out.path = request.path;
  for (const auto& [name, value] : request.params) out.query.emplace(name, value);
  for (const auto& [name, value] : request.headers) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    out.headers.emplace(std::move(lower), value);
  }
  out.body = request.body;
  out.connection = &serving->connection();
  return out;
}

void put(const HttpReply& reply, const std::atomic<bool>& ending, httplib::Response& response) {
  response.status = reply.status;
  for (const auto& [name, value] : reply.headers) response.set_header(name.c_str(), value);
  if (!reply.stream) return response.set_content(reply.body, reply.type.c_str());
  response.set_chunked_content_provider(
      reply.type.c_str(), [stream = reply.stream, &ending](std::size_t, httplib::DataSink& sink) {
        bool there = true;
        // httplib catches nothing here: a mistake in one stream would end the process.
        try {
          stream([&](const std::string& part) {
            there = there && !ending && (part.empty() || sink.write(part.data(), part.size()));
            return there;
          });
        } catch (const std::exception& error) {
          log::error("HTTP: a stream has ended in the middle: {}", error.what());
          there = false;
        }
        if (there) sink.done();
        return there;
      });
}

}  // namespace

std::unique_ptr<HttpConnection> plain_connection(int fd, const Deadlines& deadlines,
                                                 std::shared_ptr<void> held) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return nullptr;
  return std::make_unique<PlainConnection>(fd, deadlines, std::move(held));
}

std::string HttpRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

struct HttpServer::State {
  explicit State(HttpServerParts given) : parts(std::move(given)), server(parts) {}
  const HttpServerParts parts;
  Server server;
  std::atomic<bool> ending = false;  // is to end
  std::atomic<bool> ended = false;
  std::thread thread;
};

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::on_path(const std::string& path,
                                                        HttpServerParts parts) {
  auto state = std::make_unique<State>(std::move(parts));
  state->server.set_address_family(AF_UNIX);
  return bind(std::move(state), path, 80);
}

Result<std::unique_ptr<HttpServer>> HttpServer::on_address(const std::string& address, int port,
                                                           HttpServerParts parts) {
  auto state = std::make_unique<State>(std::move(parts));
  state->server.set_tcp_nodelay(true);
  return bind(std::move(state), address, port);
}

Result<std::unique_ptr<HttpServer>> HttpServer::bind(std::unique_ptr<State> state,
                                                     const std::string& where, int port) {
  Server& server = state->server;
  const HttpServerParts& parts = state->parts;
  const std::atomic<bool>& ending = state->ending;
  server.set_payload_max_length(parts.body_bytes_max);
  server.new_task_queue = [&parts] { return new BoundedQueue(parts.threads, parts.waiting_max); };
  server.set_pre_routing_handler(
      [&parts, &ending](const httplib::Request& request, httplib::Response& response) {
        const auto refusal = parts.check ? parts.check(from(request)) : std::nullopt;
        serving->allow(parts.body_bytes_max);
        if (!refusal) return httplib::Server::HandlerResponse::Unhandled;
        put(*refusal, ending, response);
        return httplib::Server::HandlerResponse::Handled;
      });
  const auto handler = [&parts, &ending](const httplib::Request& request,
                                         httplib::Response& response) {
    put(parts.answer(from(request)), ending, response);
  };
  server.Get(".*", handler);
  server.Post(".*", handler);
  server.Delete(".*", handler);
  server.set_error_handler([&parts, &ending](const httplib::Request&, httplib::Response& response) {
    if (response.body.empty()) put(parts.refuse(response.status), ending, response);
  });
  // Not httplib's own SO_REUSEPORT, which would let a second process share the port.
  server.set_socket_options([](socket_t fd) {
    const int yes = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  if (!server.bind_to_port(where, port) || !server.listen_longer()) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot listen on {} port {}: {}", where, port, std::strerror(errno)));
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

void HttpServer::start() {
  state_->thread = std::thread([raw = state_.get()] {
    const bool was_stopped = raw->server.listen_after_bind();
    raw->ended = true;
    if (!was_stopped && !raw->ending && raw->parts.failed) raw->parts.failed();
  });
}

HttpServer::~HttpServer() {
  if (!state_) return;
  if (!state_->thread.joinable()) {
    state_->server.close_unserved();
    return;
  }
  state_->ending = true;
  while (!state_->server.is_running() && !state_->ended) std::this_thread::yield();
  state_->server.stop();
  state_->thread.join();
}

}  // namespace symnas::vnfsd
