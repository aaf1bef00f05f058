#include "vnfsd/apid/listener.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "vnfsd/api/form.h"
#include "vnfsd/api/gate_limits.h"
#include "vnfsd/apid/limits.h"
#include "vnfsd/http/peer.h"

namespace symnas::vnfsd::apid {

Result<Terms> terms_from_json(const std::string& text) {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  try {
    Terms terms;
    terms.addresses = document.at("addresses").get<std::vector<std::string>>();
    terms.port = document.at("port").get<int>();
    terms.connections_max = document.at("connections_max").get<std::size_t>();
    terms.rate = {document.at("requests_per_s").get<std::int64_t>(),
                  document.at("requests_burst").get<std::int64_t>()};
    terms.authority_pem = document.at("authority").get<std::string>();
    return terms;
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorCode::kInvalidArgument,
                "symnas-apid: vnfsd's answer cannot be understood (are both of one version?)");
  }
}

Listener::Listener(const TlsContext& tls, const api::GateClient& vnfsd, const Terms& terms,
                   const env::Clock& clock)
    : tls_(tls),
      vnfsd_(vnfsd),
      clock_(clock),
      connections_(
          {terms.rate.per_s * kConnectionsPerRequest, terms.rate.burst * kConnectionsPerRequest},
          api::kRateKeysMax),
      addresses_(terms.rate, api::kRateKeysMax),
      certificates_(terms.rate, api::kRateKeysMax),
      lines_({kRefusalLinesPerS, kRefusalLinesPerS}, 1),
      open_by_address_(share_of(terms)),
      open_by_certificate_(share_of(terms)) {}

std::size_t Listener::share_of(const Terms& terms) {
  const std::size_t listeners = std::max<std::size_t>(terms.addresses.size(), 1);
  return std::max<std::size_t>(terms.connections_max / listeners / kShare, 1);
}

void Listener::log_refusal(const std::string& address, const std::string& why) {
  if (lines_.take("", clock_.mono_ns()) == 0) log::info("{}: turned away: {}", address, why);
}

std::unique_ptr<HttpConnection> Listener::connect(int fd) {
  const std::string address = peer_address(fd);
  if (address.empty()) return nullptr;
  const std::string key = limit_key(address);
  if (connections_.take(key, clock_.mono_ns()) != 0) {
    log_refusal(address, "too many connections");
    return nullptr;
  }
  auto of_address = open_by_address_.take(key);
  if (!of_address) {
    log_refusal(address, "too many connections at once");
    return nullptr;
  }
  auto tls = tls_.accept(fd, address, std::move(of_address));
  if (!tls) {
    log_refusal(address, tls.error().message);
    return nullptr;
  }
  auto of_certificate = open_by_certificate_.take((*tls)->fingerprint());
  return std::make_unique<ClientConnection>(std::move(*tls), std::move(of_certificate));
}

std::optional<HttpReply> Listener::check(const HttpRequest& header) {
  const auto& client = static_cast<const ClientConnection&>(*header.connection);
  const TlsConnection& peer = client.tls();
  const std::int64_t now_ns = clock_.mono_ns();
  if (const auto wait_ms = addresses_.take(limit_key(peer.address()), now_ns))
    return api::too_many("this address", wait_ms);
  if (const auto wait_ms = certificates_.take(peer.fingerprint(), now_ns))
    return api::too_many("this certificate", wait_ms);
  if (!client.has_place()) {
    return api::too_many_at_once("this certificate", open_by_certificate_.each_max(),
                                 "connections");
  }
  if (auto refusal = api::refuse_form(header)) return refusal;
  if (header.path == api::kListenerPath)
    return api::error_reply(404, {ErrorCode::kNotFound, "API: there is no such request"});
  if (api::bearer_token(header.header(api::gate_header::kToken)).empty())
    return api::unauthorised("API: a token is needed: send \"Authorization: Bearer TOKEN\"");
  return std::nullopt;
}

HttpReply Listener::answer(const HttpRequest& request) const {
  const TlsConnection& peer = static_cast<const ClientConnection&>(*request.connection).tls();
  HttpRequest out;
  out.method = request.method;
  out.target = request.target;
  out.body = request.body;
  // Nothing of the client's headers but its token gets through.
  out.headers = {{api::gate_header::kToken, request.header(api::gate_header::kToken)},
                 {api::gate_header::kAddress, peer.address()},
                 {api::gate_header::kCertificate, peer.fingerprint()},
                 {api::gate_header::kSerial, peer.serial()}};
  if (request.method != "GET" || request.path != api::kFollowPath)
    return vnfsd_.ask(out, api::kAnswerTimeoutS);
  const std::string last = request.header(api::gate_header::kLastEvent);
  if (!last.empty() && last.find_first_not_of("0123456789") == std::string::npos)
    out.headers[api::gate_header::kLastEvent] = last;
  // A stream says how it went with its first byte: that is asked before.
  HttpRequest probe = out;
  probe.headers.emplace(api::gate_header::kProbe, "1");
  if (HttpReply reply = vnfsd_.ask(probe, api::kConnectTimeoutS); reply.status != 200) return reply;
  return vnfsd_.follow(out, "text/event-stream");
}

}  // namespace symnas::vnfsd::apid
