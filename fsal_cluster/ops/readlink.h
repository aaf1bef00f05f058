// READLINK (RFC 1813 3.3.5).
#pragma once

#include <string>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// Errors: kInvalidArgument (no symlink), kStale, kCorrupt, Session::read.
Result<std::string> readlink(Context& context, const Handle& handle);

}  // namespace symnas::fs
