#include "common/base/result.h"

namespace symnas {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid_argument";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kAlreadyExists: return "already_exists";
    case ErrorCode::kConflict: return "conflict";
    case ErrorCode::kBusy: return "busy";
    case ErrorCode::kNoSpace: return "no_space";
    case ErrorCode::kQuotaExceeded: return "quota_exceeded";
    case ErrorCode::kOutOfRange: return "out_of_range";
    case ErrorCode::kTooLarge: return "too_large";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kUnknownOutcome: return "unknown_outcome";
    case ErrorCode::kCompacted: return "compacted";
    case ErrorCode::kEnded: return "ended";
    case ErrorCode::kFenced: return "fenced";
    case ErrorCode::kIo: return "io";
    case ErrorCode::kCorrupt: return "corrupt";
    case ErrorCode::kForeign: return "foreign";
    case ErrorCode::kPermission: return "permission";
    case ErrorCode::kNotOwner: return "not_owner";
    case ErrorCode::kStale: return "stale";
    case ErrorCode::kNotDirectory: return "not_directory";
    case ErrorCode::kIsDirectory: return "is_directory";
    case ErrorCode::kNotEmpty: return "not_empty";
    case ErrorCode::kNameTooLong: return "name_too_long";
    case ErrorCode::kCrossDevice: return "cross_device";
    case ErrorCode::kTooManyLinks: return "too_many_links";
    case ErrorCode::kBadHandle: return "bad_handle";
    case ErrorCode::kBadCookie: return "bad_cookie";
    case ErrorCode::kNotSupported: return "not_supported";
    case ErrorCode::kShutdown: return "shutdown";
    case ErrorCode::kInternal: return "internal";
  }
  return "internal";
}

}  // namespace symnas
