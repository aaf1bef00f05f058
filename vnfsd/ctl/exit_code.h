// Exit codes of symnas. Documented in symnas(1) and docs/operations/errors.md; scripts depend on
// them. 0: the command is done. Thread-safe: pure functions.
#pragma once

#include "common/base/result.h"

namespace symnas::vnfsd::ctl {

inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNotFound = 3;
inline constexpr int kExitConflict = 4;
inline constexpr int kExitUnreachable = 5;
inline constexpr int kExitNoSpace = 6;
inline constexpr int kExitNotPermitted = 7;
inline constexpr int kExitFindings = 8;  // of a check

int exit_code(ErrorCode code);

}  // namespace symnas::vnfsd::ctl
