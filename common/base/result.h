// Result<T>: a value or an Error; every function that can fail returns one. Thread class: value
// types, thread-compatible. An ErrorCode exists only because some caller reacts to it. The message
// is for a person: it names the object, what was tried, why it failed and what to do next.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace symnas {

enum class ErrorCode {
  kInvalidArgument,  // the request itself is wrong; repeating it cannot help
  kNotFound,         // the named object does not exist
  kAlreadyExists,    // the named object exists
  kConflict,         // a compare failed: somebody changed what was relied on; read again and retry
  kBusy,             // in use; the message says by whom
  kNoSpace,          // volume, group, etcd quota or slot space is exhausted
  kQuotaExceeded,    // a limit of what a user, group, tree or filesystem may use (EDQUOT)
  kOutOfRange,       // offset or size beyond the object or the limit
  kTooLarge,         // one transaction or value exceeds the store's limit
  kUnavailable,      // not executed and will not be; a later try may succeed
  kUnknownOutcome,   // may or may not have been executed
  kCompacted,        // the requested revision is gone: resync
  kEnded,            // disproof: the mount or owner record is not ours any more (INV-8): exit
  kFenced,           // a LUN refused us with a reservation conflict: exit without answering
  kIo,               // a LUN reported an error
  kCorrupt,          // persisted bytes that cannot be what we wrote
  kForeign,          // a label or record of another cluster
  kPermission,       // the caller may not do this (EACCES)
  kNotOwner,         // only the owner or root may (EPERM)
  kStale,            // the object of a handle is gone
  kNotDirectory,
  kIsDirectory,
  kNotEmpty,
  kNameTooLong,
  kCrossDevice,
  kTooManyLinks,
  kBadHandle,
  kBadCookie,
  kNotSupported,
  kShutdown,  // this process is ending; do not answer
  kInternal,  // a bug or an impossible answer of a peer
};

// Stable lower-case word for logs, JSON and exit-code tables ("not_found").
std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// Makes the error branch of a Result. Example: return fail(ErrorCode::kNotFound, "lun LUN7: ...").
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace symnas

// Evaluates a Result expression; on error returns it from the enclosing function.
#define SYMNAS_TRY(expr)                                                            \
  do {                                                                              \
    if (auto symnas_try_result = (expr); !symnas_try_result)                        \
      return tl::unexpected<::symnas::Error>(std::move(symnas_try_result.error())); \
  } while (false)

#define SYMNAS_CONCAT_INNER(a, b) a##b
#define SYMNAS_CONCAT(a, b) SYMNAS_CONCAT_INNER(a, b)
// Declares `decl` from the value of a Result expression; on error returns the error.
#define SYMNAS_ASSIGN(decl, expr) \
  SYMNAS_ASSIGN_INNER(SYMNAS_CONCAT(symnas_assign_, __LINE__), decl, expr)
#define SYMNAS_ASSIGN_INNER(tmp, decl, expr)                                \
  auto tmp = (expr);                                                        \
  if (!tmp) return tl::unexpected<::symnas::Error>(std::move(tmp.error())); \
  decl = std::move(*tmp)
