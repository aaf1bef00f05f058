#include "vnfsd/api/client.h"

#include <sys/socket.h>

#include <fmt/core.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include "vnfsd/api/limits.h"
#include "vnfsd/api/wire.h"

namespace symnas::vnfsd::api {

Result<ApiClient::Answer> ApiClient::send(const std::string& method, const std::string& path,
                                          std::string body) const {
  httplib::Client client(options_.socket);
  client.set_address_family(AF_UNIX);
  client.set_read_timeout(options_.timeout_s);
  httplib::Request request;
  request.method = method;
  request.path = path;
  request.headers.emplace("Host", "vnfsd");
  if (method == "POST") {
    request.body = std::move(body);
    request.headers.emplace("Content-Type", "application/json");
  }
  const httplib::Result result = client.send(request);
  if (result) return Answer{result->status, result->body};
  return fail(
      ErrorCode::kShutdown,
      fmt::format(
          "vnfsd: asking through {}: no answer ({}) (is vnfsd running on this head, and are you "
          "root? --socket names another socket)",
          options_.socket, httplib::to_string(result.error())));
}

Result<nlohmann::json> ApiClient::request(const std::string& method, const std::string& path,
                                          const nlohmann::json& body) {
  SYMNAS_ASSIGN(const Answer answer, send(method, path, method == "POST" ? body.dump() : ""));
  nlohmann::json document = nlohmann::json::parse(answer.body, nullptr, false);
  if (document.is_discarded()) return tl::unexpected<Error>(error_from_json({}));
  if (answer.status / 100 != 2) return tl::unexpected<Error>(error_from_json(document));
  return document;
}

Status ApiClient::follow(const std::string& path, const TakeServerEvent& take) {
  httplib::Client client(options_.socket);
  client.set_address_family(AF_UNIX);
  client.set_read_timeout(kStreamSilenceS);
  int status = 0;
  bool is_enough = false;
  std::string refusal;
  SseReader reader(take);
  const httplib::Result result = client.Get(
      path, {{"Host", "vnfsd"}, {"Accept", "text/event-stream"}},
      [&](const httplib::Response& response) {
        status = response.status;
        return true;
      },
      [&](const char* bytes, std::size_t size) {
        if (status != 200) {
          refusal.append(bytes, size);
          return refusal.size() <= kStreamLineBytesMax;
        }
        is_enough = !reader.feed({bytes, size});
        return !is_enough;
      });
  if (is_enough) return {};
  if (result && status != 200) {
    return tl::unexpected<Error>(error_from_json(nlohmann::json::parse(refusal, nullptr, false)));
  }
  return fail(
      ErrorCode::kShutdown,
      fmt::format("vnfsd: following {} through {}: the stream has ended", path, options_.socket));
}

Result<std::string> ApiClient::text(const std::string& path) {
  SYMNAS_ASSIGN(Answer answer, send("GET", path, ""));
  if (answer.status == 200) return std::move(answer.body);
  return fail(ErrorCode::kInternal, fmt::format("vnfsd: GET {}: status {}", path, answer.status));
}

}  // namespace symnas::vnfsd::api
