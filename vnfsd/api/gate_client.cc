#include "vnfsd/api/gate_client.h"

#include <sys/socket.h>

#include <algorithm>

#include <fmt/core.h>
#include <httplib.h>

#include "vnfsd/api/form.h"
#include "vnfsd/api/gate_limits.h"

namespace symnas::vnfsd::api {
namespace {

httplib::Request make_request(const HttpRequest& request) {
  httplib::Request out;
  out.method = request.method;
  out.path = request.target;
  out.body = request.body;
  for (const auto& [name, value] : request.headers) out.headers.emplace(name, value);
  out.headers.emplace("Host", "vnfsd");
  if (!out.body.empty()) out.headers.emplace("Content-Type", "application/json");
  return out;
}

}  // namespace

HttpReply GateClient::ask(const HttpRequest& request, int timeout_s) const {
  httplib::Client client(socket_);
  client.set_address_family(AF_UNIX);
  client.set_connection_timeout(std::min(timeout_s, kConnectTimeoutS));
  client.set_read_timeout(timeout_s);
  httplib::Request out = make_request(request);
  std::string body;
  out.content_receiver = [&body](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
    if (body.size() + size > kReplyBytesMax) return false;
    body.append(data, size);
    return true;
  };
  const httplib::Result result = client.send(out);
  if (result) {
    HttpReply reply{result->status, std::move(body)};
    if (result->has_header("Content-Type")) reply.type = result->get_header_value("Content-Type");
    for (const char* name : {"Retry-After", "WWW-Authenticate", "Allow", "Location"}) {
      if (result->has_header(name)) reply.headers[name] = result->get_header_value(name);
    }
    return reply;
  }
  if (result.error() == httplib::Error::Connection || request.method == "GET") {
    HttpReply reply = error_reply(503, {ErrorCode::kUnavailable,
                                        "API: vnfsd does not answer on this head: nothing was done "
                                        "(it may be starting: try again, or ask another head)"});
    reply.headers.emplace("Retry-After", "1");
    return reply;
  }
  return error_reply(504, {ErrorCode::kUnknownOutcome,
                           "API: vnfsd has ended while it did this: it may be done or "
                           "not (look before you try again)"});
}

HttpReply GateClient::follow(const HttpRequest& request, std::string type) const {
  HttpReply reply;
  reply.type = std::move(type);
  reply.stream = [socket = socket_, request](const auto& send) {
    httplib::Client client(socket);
    client.set_address_family(AF_UNIX);
    client.set_connection_timeout(kConnectTimeoutS);
    client.set_read_timeout(kFollowSilenceS);
    httplib::Request out = make_request(request);
    out.response_handler = [](const httplib::Response& begun) { return begun.status == 200; };
    out.content_receiver = [&send](const char* data, std::size_t size, std::uint64_t,
                                   std::uint64_t) { return send(std::string(data, size)); };
    (void)client.send(out);
  };
  return reply;
}

}  // namespace symnas::vnfsd::api
