#include "vnfsd/apid/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "vnfsd/api/form.h"
#include "vnfsd/api/gate_limits.h"
#include "vnfsd/apid/limits.h"

namespace symnas::vnfsd::apid {
namespace {

// The events after the last revision that there can be.
constexpr const char* kNoEvents = "/v1/events?after=9223372036854775807";

// "" if it is neither IPv4 nor IPv6.
std::string address_of(int fd) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  char text[INET6_ADDRSTRLEN] = "";
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return "";
  if (peer.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in&>(peer).sin_addr, text, sizeof text);
  } else if (peer.ss_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &reinterpret_cast<sockaddr_in6&>(peer).sin6_addr, text, sizeof text);
  }
  return text;
}

}  // namespace

std::string limit_key(const std::string& address) {
  in6_addr bytes{};
  if (::inet_pton(AF_INET6, address.c_str(), &bytes) != 1 || IN6_IS_ADDR_V4MAPPED(&bytes))
    return address;
  return {reinterpret_cast<const char*>(&bytes), 8};
}

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
      per_address_max_(std::max<std::size_t>(
          terms.connections_max / std::max<std::size_t>(terms.addresses.size(), 1) / kAddressShare,
          1)) {}

std::shared_ptr<void> Listener::count_in(const std::string& key) {
  const MutexLock lock(mutex_);
  std::size_t& count = open_[key];
  if (count >= per_address_max_) return nullptr;
  ++count;
  return {this, [this, key](void*) {
            const MutexLock again(mutex_);
            if (--open_[key] == 0) open_.erase(key);
          }};
}

void Listener::log_refusal(const std::string& address, const std::string& why) {
  if (lines_.take("", clock_.mono_ns()) == 0) log::info("{}: turned away: {}", address, why);
}

std::unique_ptr<api::HttpConnection> Listener::connect(int fd) {
  const std::string address = address_of(fd);
  if (address.empty()) return nullptr;
  if (connections_.take(limit_key(address), clock_.mono_ns()) != 0) {
    log_refusal(address, "too many connections");
    return nullptr;
  }
  auto held = count_in(limit_key(address));
  if (!held) {
    log_refusal(address, "too many connections at once");
    return nullptr;
  }
  auto connection = tls_.accept(fd, address, std::move(held));
  if (connection) return std::move(*connection);
  log_refusal(address, connection.error().message);
  return nullptr;
}

std::optional<api::HttpReply> Listener::check(const api::HttpRequest& header) {
  const auto& peer = static_cast<const TlsConnection&>(*header.connection);
  const std::int64_t now_ns = clock_.mono_ns();
  if (const auto wait_ms = addresses_.take(limit_key(peer.address()), now_ns))
    return api::too_many("this address", wait_ms);
  if (const auto wait_ms = certificates_.take(peer.fingerprint(), now_ns))
    return api::too_many("this certificate", wait_ms);
  if (auto refusal = api::refuse_form(header)) return refusal;
  if (header.path == api::kListenerPath)
    return api::error_reply(404, {ErrorCode::kNotFound, "API: there is no such request"});
  if (api::bearer_token(header.header(api::gate_header::kToken)).empty())
    return api::unauthorised("API: a token is needed: send \"Authorization: Bearer TOKEN\"");
  return std::nullopt;
}

api::HttpReply Listener::answer(const api::HttpRequest& request) const {
  const auto& peer = static_cast<const TlsConnection&>(*request.connection);
  api::HttpRequest out;
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
  // A stream says how it went with its first byte: what has the same rights is asked before.
  api::HttpRequest probe = out;
  probe.target = kNoEvents;
  if (api::HttpReply reply = vnfsd_.ask(probe, api::kConnectTimeoutS); reply.status != 200)
    return reply;
  const std::string last = request.header(api::gate_header::kLastEvent);
  if (!last.empty() && last.find_first_not_of("0123456789") == std::string::npos)
    out.headers[api::gate_header::kLastEvent] = last;
  return vnfsd_.follow(out, "text/event-stream");
}

}  // namespace symnas::vnfsd::apid
