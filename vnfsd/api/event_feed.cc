#include "vnfsd/api/event_feed.h"

#include <nlohmann/json.hpp>

#include "vnfsd/api/event_stream.h"
#include "vnfsd/api/limits.h"

namespace symnas::vnfsd::api {

Result<std::string> EventFeed::look(std::int64_t now_ms) {
  looked_ms_ = now_ms;
  SYMNAS_ASSIGN(const nlohmann::json page, router_.handle(request_));
  request_.after = Revision(page.value("revision", request_.after.value()));
  return sse_of_page(page);
}

Result<std::string> EventFeed::first(std::int64_t now_ms) {
  SYMNAS_ASSIGN(std::string events, look(now_ms));
  sent_ms_ = now_ms;
  return sse_comment("events of a symnas cluster") + events;
}

std::string EventFeed::next(std::int64_t now_ms) {
  std::string out;
  std::string silence = "nothing new";
  if (now_ms - looked_ms_ >= kStreamLookMs) {
    auto events = look(now_ms);
    if (events) {
      out = std::move(*events);
    } else {
      silence = events.error().message;
    }
  }
  if (out.empty() && now_ms - sent_ms_ >= kStreamHeartbeatMs) out = sse_comment(silence);
  if (!out.empty()) sent_ms_ = now_ms;
  return out;
}

}  // namespace symnas::vnfsd::api
