#include "fsal_cluster/ops/retry.h"

#include <algorithm>
#include <utility>

#include "fsal_cluster/reply/replies.h"

namespace symnas::fs {

bool is_negative(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kPermission:
    case ErrorCode::kNotOwner:
    case ErrorCode::kStale:
    case ErrorCode::kNotDirectory:
    case ErrorCode::kIsDirectory:
    case ErrorCode::kNotEmpty:
    case ErrorCode::kTooManyLinks:
    case ErrorCode::kCrossDevice:  // directory trees
    case ErrorCode::kNoSpace:
    case ErrorCode::kNotSupported:
    case ErrorCode::kInvalidArgument: return true;
    case ErrorCode::kConflict:
    case ErrorCode::kBusy:
    case ErrorCode::kQuotaExceeded:  // said after a look at what others use
    case ErrorCode::kOutOfRange:
    case ErrorCode::kTooLarge:
    case ErrorCode::kUnavailable:
    case ErrorCode::kUnknownOutcome:
    case ErrorCode::kCompacted:
    case ErrorCode::kEnded:
    case ErrorCode::kFenced:
    case ErrorCode::kIo:
    case ErrorCode::kCorrupt:
    case ErrorCode::kForeign:
    case ErrorCode::kNameTooLong:
    case ErrorCode::kBadHandle:
    case ErrorCode::kBadCookie:
    case ErrorCode::kShutdown:
    case ErrorCode::kInternal: return false;
  }
  return false;
}

std::int64_t conflict_pause_us(int attempt, std::uint64_t random) {
  std::int64_t pause_us = kConflictPauseMinUs;
  for (int i = 1; i < attempt && pause_us < kConflictPauseMaxUs; ++i) pause_us *= 2;
  pause_us = std::min(pause_us, kConflictPauseMaxUs);
  return pause_us / 2 + static_cast<std::int64_t>(random % static_cast<std::uint64_t>(pause_us));
}

Result<kv::Committed> commit(Context& context, kv::Mutation mutation) {
  SYMNAS_ASSIGN(kv::Committed done, context.session.commit_blocking(std::move(mutation)));
  if (!done.succeeded) return fail(ErrorCode::kConflict, "a compare failed");
  return done;
}

std::optional<kv::Op> record_of_call(Context& context, const Handle& object) {
  if (context.replies == nullptr) return std::nullopt;
  return context.replies->record(object.ino, object.generation);
}

Result<kv::Committed> commit_call(Context& context, kv::Mutation mutation, const Handle& object) {
  if (auto record = record_of_call(context, object)) mutation.writes.push_back(std::move(*record));
  return commit(context, std::move(mutation));
}

}  // namespace symnas::fs
