#include "vnfsd/ctl/exit_code.h"

namespace symnas::vnfsd::ctl {

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kOutOfRange:
    case ErrorCode::kTooLarge:
    case ErrorCode::kNameTooLong:
    case ErrorCode::kNotSupported: return kExitUsage;
    case ErrorCode::kNotFound:
    case ErrorCode::kStale: return kExitNotFound;
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kConflict:
    case ErrorCode::kBusy:
    case ErrorCode::kNotEmpty: return kExitConflict;
    case ErrorCode::kUnavailable:
    case ErrorCode::kUnknownOutcome:
    case ErrorCode::kShutdown: return kExitUnreachable;
    case ErrorCode::kNoSpace:
    case ErrorCode::kQuotaExceeded: return kExitNoSpace;
    case ErrorCode::kPermission:
    case ErrorCode::kNotOwner:
    case ErrorCode::kForeign: return kExitNotPermitted;
    case ErrorCode::kCompacted:
    case ErrorCode::kEnded:
    case ErrorCode::kFenced:
    case ErrorCode::kIo:
    case ErrorCode::kCorrupt:
    case ErrorCode::kNotDirectory:
    case ErrorCode::kIsDirectory:
    case ErrorCode::kCrossDevice:
    case ErrorCode::kTooManyLinks:
    case ErrorCode::kBadHandle:
    case ErrorCode::kBadCookie:
    case ErrorCode::kInternal: return kExitFailed;
  }
  return kExitFailed;
}

}  // namespace symnas::vnfsd::ctl
