#include "vnfsd/api/wire.h"

#include <nlohmann/json.hpp>

namespace symnas::vnfsd::api {

nlohmann::json error_to_json(const Error& error) {
  return {{"error", {{"code", std::string(to_string(error.code))}, {"message", error.message}}}};
}

Error error_from_json(const nlohmann::json& document) {
  Error error{ErrorCode::kInternal,
              "vnfsd: the answer cannot be understood (are symnas and vnfsd of "
              "one version?)"};
  if (!document.is_object()) return error;
  const auto it = document.find("error");
  if (it == document.end() || !it->is_object()) return error;
  error.message = it->value("message", error.message);
  const std::string word = it->value("code", "");
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    if (to_string(static_cast<ErrorCode>(code)) == word) error.code = static_cast<ErrorCode>(code);
  }
  return error;
}

int http_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kOutOfRange:
    case ErrorCode::kTooLarge:
    case ErrorCode::kNameTooLong:
    case ErrorCode::kBadHandle:
    case ErrorCode::kBadCookie:
    case ErrorCode::kNotDirectory:
    case ErrorCode::kIsDirectory:
    case ErrorCode::kCrossDevice:
    case ErrorCode::kTooManyLinks: return 400;
    case ErrorCode::kPermission:
    case ErrorCode::kNotOwner:
    case ErrorCode::kForeign: return 403;
    case ErrorCode::kNotFound:
    case ErrorCode::kStale: return 404;
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kConflict:
    case ErrorCode::kBusy:
    case ErrorCode::kNotEmpty: return 409;
    case ErrorCode::kNotSupported: return 501;
    case ErrorCode::kUnavailable:
    case ErrorCode::kUnknownOutcome:
    case ErrorCode::kShutdown: return 503;
    case ErrorCode::kNoSpace:
    case ErrorCode::kQuotaExceeded: return 507;
    case ErrorCode::kCompacted:
    case ErrorCode::kEnded:
    case ErrorCode::kFenced:
    case ErrorCode::kIo:
    case ErrorCode::kCorrupt:
    case ErrorCode::kInternal: return 500;
  }
  return 500;
}

}  // namespace symnas::vnfsd::api
