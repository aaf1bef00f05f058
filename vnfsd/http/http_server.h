// HttpServer: HTTP/1.1, one request per connection, over connections that its owner makes: plain
// ones, or TLS (tls.h). Thread class: made and destroyed by one thread; calls its owner on
// threads of its own. Invariant: nothing is unbounded: not the connections that are served or wait,
// not the header, not the body; and the body is read only after `check` has seen the header.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "vnfsd/http/deadlines.h"

namespace symnas::vnfsd {

// A connection whose deadlines are its own. Confined to one thread.
class HttpConnection {
 public:
  virtual ~HttpConnection() = default;
  // As recv(2) and send(2); 0 and less end the connection.
  virtual ssize_t read(char* into, std::size_t size) = 0;
  virtual ssize_t write(const char* from, std::size_t size) = 0;
  // Says that nothing more will be written.
  virtual void finish() = 0;
};

struct HttpRequest {
  std::string method;
  std::string target;                             // path and query as they were sent
  std::string path;                               // decoded
  std::multimap<std::string, std::string> query;  // decoded
  std::map<std::string, std::string> headers;     // names in lower case; the first of several
  std::string body;
  HttpConnection* connection = nullptr;

  // "" if there is none.
  std::string header(const std::string& name) const;
};

struct HttpReply {
  int status = 200;
  std::string body;
  std::string type = "application/json";
  std::map<std::string, std::string> headers = {};
  // Instead of a body, if it is set: sends parts until there are no more, or `send` returns false
  // because the peer is gone or the server ends. An empty part only asks that: to be called often.
  // Blocks one of the server's threads.
  std::function<void(const std::function<bool(const std::string& part)>& send)> stream = {};
};

struct HttpServerParts {
  // Makes the connection of an accepted socket, which stays open until the connection is gone.
  // null: it is refused. Blocks one of the server's threads.
  std::function<std::unique_ptr<HttpConnection>(int fd)> connect;
  // Before the body is read: nullopt, or the answer that ends the request.
  std::function<std::optional<HttpReply>(const HttpRequest& header)> check;
  std::function<HttpReply(const HttpRequest& request)> answer;
  // The answer to what is no request, of that status.
  std::function<HttpReply(int status)> refuse;
  // The server has ended by itself: nothing is served any more.
  std::function<void()> failed;
  std::size_t threads = 1;         // connections served at once
  std::size_t waiting_max = 0;     // accepted ones that wait for a thread; more are closed
  std::size_t body_bytes_max = 0;  // more is refused with 413
};

class HttpServer {
 public:
  // Both bind; connections wait until start().
  // On a unix socket at that path, which must not exist. Errors: kIo.
  static Result<std::unique_ptr<HttpServer>> on_path(const std::string& path,
                                                     HttpServerParts parts);
  // On TCP. address: an IP address. Errors: kIo.
  static Result<std::unique_ptr<HttpServer>> on_address(const std::string& address, int port,
                                                        HttpServerParts parts);
  // Finishes requests in progress.
  ~HttpServer();

  // Begins to serve: threads begin only here. REQUIRES: called once.
  void start();

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  static Result<std::unique_ptr<HttpServer>> bind(std::unique_ptr<State> state,
                                                  const std::string& where, int port);
  std::unique_ptr<State> state_;
};

// A plain socket. Does not own the descriptor, which becomes non-blocking. held: kept as long as
// the connection. null: it cannot be used.
std::unique_ptr<HttpConnection> plain_connection(int fd, const Deadlines& deadlines,
                                                 std::shared_ptr<void> held = nullptr);

}  // namespace symnas::vnfsd
