// What refuses a request before anybody asks who sent it: also in symnas-apid.
#include <algorithm>
#include <charconv>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "vnfsd/api/form.h"
#include "vnfsd/api/limits.h"
#include "vnfsd/api/wire.h"
#include "vnfsd/pki/token.h"

namespace symnas::vnfsd::api {
namespace {

constexpr std::size_t kTargetBytesMax = 4096;  // the longest path of a file, and some more

bool token_in_url(const HttpRequest& header) {
  if (pki::holds_token(header.target) || pki::holds_token(header.path)) return true;
  for (const auto& [name, value] : header.query) {
    if (name == "token" || name == "access_token" || name == "authorization" ||
        pki::holds_token(value) || pki::holds_token(name))
      return true;
  }
  return false;
}

// httplib 0.11 decodes %0d and %0a in values: handed on, they would be headers of their own.
bool holds_control(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}
bool control_in_headers(const HttpRequest& header) {
  return std::any_of(header.headers.begin(), header.headers.end(),
                     [](const auto& one) { return holds_control(one.second); });
}

// What the header says of the body's length; nullopt: it is no number.
std::optional<std::size_t> length_of(const HttpRequest& header) {
  const std::string text = header.header("content-length");
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty()) return 0;
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return length;
}

}  // namespace

HttpReply error_reply(int status, const Error& error) {
  return {
      status,
      error_to_json(error).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

HttpReply not_understood(int status) {
  return error_reply(
      status, {ErrorCode::kInvalidArgument,
               fmt::format("API: not a request that can be understood (status {})", status)});
}

std::string bearer_token(const std::string& header) {
  constexpr std::string_view kScheme = "Bearer ";
  return header.starts_with(kScheme) ? header.substr(kScheme.size()) : "";
}

HttpReply too_many(const std::string& who, std::int64_t wait_ms) {
  HttpReply reply = error_reply(
      429, {ErrorCode::kUnavailable,
            fmt::format("API: too many requests of {}: try again in {} ms", who, wait_ms)});
  reply.headers["Retry-After"] = std::to_string((wait_ms + 999) / 1000);
  return reply;
}

HttpReply too_many_at_once(const std::string& who, std::size_t count, const std::string& of_what) {
  HttpReply reply = error_reply(
      429, {ErrorCode::kUnavailable,
            fmt::format("API: {} has {} {} under way on this head already: try again when one of "
                        "them has ended, or ask another head",
                        who, count, of_what)});
  reply.headers["Retry-After"] = "1";
  return reply;
}

HttpReply unauthorised(const std::string& message) {
  HttpReply reply = error_reply(401, {ErrorCode::kPermission, message});
  reply.headers["WWW-Authenticate"] = "Bearer realm=\"symnas\"";
  return reply;
}

std::optional<HttpReply> refuse_form(const HttpRequest& header) {
  const auto refuse = [](int status, ErrorCode code, std::string_view why) {
    return error_reply(status, {code, fmt::format("API: {}", why)});
  };
  if (token_in_url(header)) {
    return refuse(400, ErrorCode::kInvalidArgument,
                  "a token does not belong in a URL, which stands in logs and histories: send it "
                  "as \"Authorization: Bearer\", and revoke this one");
  }
  if (control_in_headers(header))
    return refuse(400, ErrorCode::kInvalidArgument, "a header has control characters");
  if (header.target.size() > kTargetBytesMax)
    return refuse(414, ErrorCode::kTooLarge, "the URL is too long");
  if (header.method != "GET" && header.method != "POST" && header.method != "DELETE") {
    HttpReply reply =
        refuse(405, ErrorCode::kNotSupported, "only GET, POST and DELETE are understood");
    reply.headers["Allow"] = "GET, POST, DELETE";
    return reply;
  }
  if (header.headers.contains("transfer-encoding"))
    return refuse(411, ErrorCode::kInvalidArgument, "a body needs a Content-Length");
  if (header.headers.contains("content-encoding"))
    return refuse(415, ErrorCode::kInvalidArgument, "a body must not be compressed");
  const auto length = length_of(header);
  if (!length) return refuse(400, ErrorCode::kInvalidArgument, "Content-Length is no number");
  if (*length > kRequestBytesMax) {
    return refuse(413, ErrorCode::kTooLarge,
                  fmt::format("the body has {} bytes, {} are allowed", *length, kRequestBytesMax));
  }
  if (*length > 0 && !header.header("content-type").starts_with("application/json"))
    return refuse(415, ErrorCode::kInvalidArgument, "a body must be application/json");
  return std::nullopt;
}

}  // namespace symnas::vnfsd::api
