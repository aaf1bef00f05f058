// What a request over the network must look like, whoever sends it. Used by symnas-apid and again
// by vnfsd, which does not rely on it. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "vnfsd/http/http_server.h"

namespace symnas::vnfsd::api {

// A reply with an error document (wire.h).
HttpReply error_reply(int status, const Error& error);
// The answer to what is no HTTP, or none that is understood.
HttpReply not_understood(int status);
// The token of a header "Bearer TOKEN"; "" if it is none.
std::string bearer_token(const std::string& header);
// 429 with Retry-After. wait_ms: at least 1.
HttpReply too_many(const std::string& who, std::int64_t wait_ms);
// 429: as many of them are under way as one of its kind may have.
HttpReply too_many_at_once(const std::string& who, std::size_t count, const std::string& of_what);
// 401 with WWW-Authenticate.
HttpReply unauthorised(const std::string& message);
// What no request may be: a token in its URL, another method than GET, POST and DELETE, a body that
// is too long, of unknown length, compressed, or not JSON. Messages repeat nothing of the request
// but numbers.
std::optional<HttpReply> refuse_form(const HttpRequest& header);

// What symnas-apid adds to a request, in headers. The first is the client's own.
namespace gate_header {
inline constexpr const char* kToken = "authorization";  // "Bearer " + token
inline constexpr const char* kAddress = "symnas-address";
inline constexpr const char* kCertificate = "symnas-certificate";  // SHA-256, 64 hex digits
inline constexpr const char* kSerial = "symnas-serial";            // hex digits
inline constexpr const char* kLastEvent = "last-event-id";         // the client's own, decimal
// Not empty: the reply says whether a stream would be sent, and is none.
inline constexpr const char* kProbe = "symnas-probe";
}  // namespace gate_header

// The one request whose answer has no end: server-sent events.
inline constexpr const char* kFollowPath = "/v1/events/stream";

// What symnas-apid asks for when it starts.
inline constexpr const char* kListenerPath = "/listener";

}  // namespace symnas::vnfsd::api
