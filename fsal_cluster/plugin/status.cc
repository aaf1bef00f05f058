#include "fsal_cluster/plugin/status.h"

#include <atomic>
#include <chrono>
#include <cstdint>

#include "common/base/log.h"

namespace symnas::plugin {
namespace {

constexpr std::chrono::nanoseconds kReportPause = std::chrono::seconds(1);

// Logs the cause of an I/O error, because clients see only that there was one. A LUN that fails is
// not reported for each of its requests.
void report(const Error& error) {
  using std::chrono::steady_clock;
  static std::atomic<std::int64_t> next_ns{0};
  const std::int64_t now_ns = steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  std::int64_t due_ns = next_ns.load();
  if (now_ns < due_ns || !next_ns.compare_exchange_strong(due_ns, now_ns + kReportPause.count()))
    return;
  log::error("a client is answered with an I/O error: {}", error.message);
}

}  // namespace

fsal_status_t to_fsal(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument: return fsalstat(ERR_FSAL_INVAL, EINVAL);
    case ErrorCode::kNotFound: return fsalstat(ERR_FSAL_NOENT, ENOENT);
    case ErrorCode::kAlreadyExists: return fsalstat(ERR_FSAL_EXIST, EEXIST);
    case ErrorCode::kNoSpace: return fsalstat(ERR_FSAL_NOSPC, ENOSPC);
    case ErrorCode::kQuotaExceeded: return fsalstat(ERR_FSAL_DQUOT, EDQUOT);
    case ErrorCode::kOutOfRange:
    case ErrorCode::kTooLarge: return fsalstat(ERR_FSAL_FBIG, EFBIG);
    case ErrorCode::kIo:
    case ErrorCode::kCorrupt: report(error); return fsalstat(ERR_FSAL_IO, EIO);
    case ErrorCode::kPermission: return fsalstat(ERR_FSAL_ACCESS, EACCES);
    case ErrorCode::kNotOwner: return fsalstat(ERR_FSAL_PERM, EPERM);
    case ErrorCode::kStale: return fsalstat(ERR_FSAL_STALE, ESTALE);
    case ErrorCode::kNotDirectory: return fsalstat(ERR_FSAL_NOTDIR, ENOTDIR);
    case ErrorCode::kIsDirectory: return fsalstat(ERR_FSAL_ISDIR, EISDIR);
    case ErrorCode::kNotEmpty: return fsalstat(ERR_FSAL_NOTEMPTY, ENOTEMPTY);
    case ErrorCode::kNameTooLong: return fsalstat(ERR_FSAL_NAMETOOLONG, ENAMETOOLONG);
    case ErrorCode::kCrossDevice: return fsalstat(ERR_FSAL_XDEV, EXDEV);
    case ErrorCode::kTooManyLinks: return fsalstat(ERR_FSAL_MLINK, EMLINK);
    case ErrorCode::kBadHandle: return fsalstat(ERR_FSAL_BADHANDLE, 0);
    case ErrorCode::kBadCookie: return fsalstat(ERR_FSAL_BADCOOKIE, 0);
    case ErrorCode::kNotSupported: return fsalstat(ERR_FSAL_NOTSUPP, ENOTSUP);
    // A resource that is busy for longer than a client should wait: JUKEBOX / NFS4ERR_DELAY.
    case ErrorCode::kConflict:
    case ErrorCode::kBusy:
    case ErrorCode::kUnavailable:
    case ErrorCode::kUnknownOutcome:
    case ErrorCode::kCompacted:
    case ErrorCode::kEnded:
    case ErrorCode::kFenced:
    case ErrorCode::kShutdown: return fsalstat(ERR_FSAL_DELAY, EAGAIN);
    case ErrorCode::kForeign:
    case ErrorCode::kInternal: report(error); return fsalstat(ERR_FSAL_SERVERFAULT, EREMOTEIO);
  }
  return fsalstat(ERR_FSAL_SERVERFAULT, EREMOTEIO);
}

}  // namespace symnas::plugin
