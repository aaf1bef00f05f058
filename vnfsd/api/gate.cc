#include "vnfsd/api/gate.h"

#include <chrono>
#include <memory>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "vnfsd/api/event_feed.h"
#include "vnfsd/api/event_stream.h"
#include "vnfsd/api/form.h"
#include "vnfsd/api/limits.h"
#include "vnfsd/api/routes.h"
#include "vnfsd/api/wire.h"
#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd::api {

using nlohmann::json;

nlohmann::json terms_to_json(const ListenerTerms& terms, const std::string& authority_pem) {
  return {{"addresses", terms.addresses},
          {"port", terms.port},
          {"connections_max", terms.connections_max},
          {"requests_per_s", terms.rate.per_s},
          {"requests_burst", terms.rate.burst},
          {"authority", authority_pem}};
}

// Public: the authority's certificate, and where to listen.
HttpReply Gate::listener() {
  const auto pem = access_.authority_pem();
  if (!pem) return error_reply(http_status(pem.error().code), pem.error());
  return {200, terms_to_json(terms_, *pem).dump() + "\n"};
}

HttpReply Gate::answer(const HttpRequest& request) {
  if (request.path == kListenerPath) return listener();
  if (auto refusal = refuse_form(request)) return *refusal;
  const std::string address = request.header(gate_header::kAddress);
  if (!IpAddress::parse(address))
    return error_reply(400, {ErrorCode::kInvalidArgument, "API: symnas-apid names no address"});
  const Credential credential{bearer_token(request.header(gate_header::kToken)),
                              request.header(gate_header::kCertificate),
                              request.header(gate_header::kSerial)};
  auto caller = access_.authenticate(credential);
  if (!caller) {
    // The audit log is of those who are known. How often an address comes, symnas-apid bounds.
    log::warn("API over the network: {}: {}", address, caller.error().message);
    return caller.error().code == ErrorCode::kPermission
               ? unauthorised(caller.error().message)
               : error_reply(http_status(caller.error().code), caller.error());
  }
  caller->from = address;
  if (const std::int64_t wait_ms = limiter_.take(caller->name, clock_.mono_ns()))
    return too_many("this token", wait_ms);
  const std::shared_ptr<void> under_way = requests_.take(caller->name);
  if (!under_way) return too_many_at_once("this token", requests_.each_max(), "requests");
  auto asked = request_of(request.method, request.path, request.body, request.query);
  if (!asked) return error_reply(http_status(asked.error().code), asked.error());
  asked->caller = *caller;
  asked->credential = credential;
  if (request.method == "GET" && request.path == kEventStreamPath)
    return follow(request, credential, std::move(*asked), under_way);
  const Result<json> result = router_.handle(*asked);
  if (!result) return error_reply(http_status(result.error().code), result.error());
  // Names of devices need not be UTF-8; an answer has to be.
  HttpReply reply{200, result->dump(-1, ' ', false, json::error_handler_t::replace) + "\n"};
  if (asked->is_for_a_job() && result->contains("job")) {
    reply.status = 202;
    reply.headers["Location"] = fmt::format("/v1/jobs/{}", (*result)["job"].value("id", 0));
  }
  return reply;
}

HttpReply Gate::follow(const HttpRequest& request, const Credential& credential, ApiRequest asked,
                       std::shared_ptr<void> under_way) {
  const std::shared_ptr<void> own = followed_.take(asked.caller.name);
  if (!own) return too_many_at_once("this token", followed_.each_max(), "event streams");
  const std::shared_ptr<void> place(this, [this](void*) { --followers_; });
  if (++followers_ > kFollowersMax) {
    return error_reply(503, {ErrorCode::kUnavailable,
                             fmt::format("events: {} readers over the network follow them on this "
                                         "head already (ask another head, or GET /v1/events)",
                                         kFollowersMax)});
  }
  if (const std::string last = request.header(gate_header::kLastEvent); !last.empty())
    asked.after = parse_event_id(last).value_or(asked.after);
  const auto now_ms = [this] { return clock_.mono_ns() / 1'000'000; };
  const auto feed = std::make_shared<EventFeed>(router_, std::move(asked));
  auto first = feed->first(now_ms());
  if (!first) return error_reply(http_status(first.error().code), first.error());
  if (!request.header(gate_header::kProbe).empty()) return {200, "{}\n"};
  HttpReply reply{200, "", "text/event-stream", {{"Cache-Control", "no-store"}}};
  reply.stream = [this, place, own, under_way, feed, credential, now_ms,
                  text = *first](const auto& send) mutable {
    std::int64_t looked_ms = now_ms();
    while (send(text)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kStreamStepMs));
      if (now_ms() - looked_ms >= kGateLookMs) {
        looked_ms = now_ms();
        const auto caller = access_.authenticate(credential);
        if (!caller && caller.error().code == ErrorCode::kPermission) return;
      }
      text = feed->next(now_ms());
    }
  };
  return reply;
}

}  // namespace symnas::vnfsd::api
