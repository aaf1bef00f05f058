#include "vnfsd/api/remote_client.h"

#include <memory>

#include <fmt/core.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include "vnfsd/api/gate_limits.h"
#include "vnfsd/api/limits.h"
#include "vnfsd/api/wire.h"

namespace symnas::vnfsd::api {
namespace {

Result<std::unique_ptr<httplib::SSLClient>> connect(const RemoteOptions& to, int silence_s) {
  auto client = std::make_unique<httplib::SSLClient>(to.host, to.port, to.certificate, to.key);
  if (!client->is_valid()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("remote: {} and {} cannot be used as certificate and key",
                            to.certificate, to.key));
  }
  client->set_ca_cert_path(to.authority.c_str());
  client->enable_server_certificate_verification(true);
  client->set_connection_timeout(kConnectTimeoutS);
  client->set_read_timeout(silence_s);
  return client;
}

tl::unexpected<Error> no_answer(const RemoteOptions& to, httplib::Error error) {
  return fail(ErrorCode::kShutdown,
              fmt::format("API at {} port {}: no answer ({}) (does symnas-apid run there, is the "
                          "certificate good, and is {} its authority?)",
                          to.host, to.port, httplib::to_string(error), to.authority));
}

}  // namespace

Result<nlohmann::json> RemoteClient::request(const std::string& method, const std::string& path,
                                             const nlohmann::json& body) {
  SYMNAS_ASSIGN(const auto client, connect(to_, kAnswerTimeoutS));
  httplib::Request request;
  request.method = method;
  request.path = path;
  request.headers.emplace("Authorization", "Bearer " + to_.token);
  if (method == "POST") {
    request.body = body.dump();
    request.headers.emplace("Content-Type", "application/json");
  }
  const httplib::Result result = client->send(request);
  if (!result) return no_answer(to_, result.error());
  nlohmann::json document = nlohmann::json::parse(result->body, nullptr, false);
  if (document.is_discarded()) return tl::unexpected<Error>(error_from_json({}));
  if (result->status / 100 != 2) return tl::unexpected<Error>(error_from_json(document));
  return document;
}

Status RemoteClient::follow(const std::string& path, const TakeServerEvent& take) {
  SYMNAS_ASSIGN(const auto client, connect(to_, kStreamSilenceS));
  int status = 0;
  bool is_enough = false;
  std::string refusal;
  SseReader reader(take);
  httplib::Request request;
  request.method = "GET";
  request.path = path;
  request.headers = {{"Authorization", "Bearer " + to_.token}, {"Accept", "text/event-stream"}};
  request.response_handler = [&status](const httplib::Response& begun) {
    status = begun.status;
    return true;
  };
  request.content_receiver = [&](const char* bytes, std::size_t size, std::uint64_t,
                                 std::uint64_t) {
    if (status == 200) return !(is_enough = !reader.feed({bytes, size}));
    refusal.append(bytes, size);
    return refusal.size() <= kStreamLineBytesMax;
  };
  const httplib::Result result = client->send(request);
  if (is_enough) return {};
  if (!result || status == 200) return no_answer(to_, result.error());
  return tl::unexpected<Error>(error_from_json(nlohmann::json::parse(refusal, nullptr, false)));
}

Result<std::string> RemoteClient::text(const std::string& path) {
  return fail(ErrorCode::kNotSupported, fmt::format("API: {}: only on the head itself", path));
}

}  // namespace symnas::vnfsd::api
