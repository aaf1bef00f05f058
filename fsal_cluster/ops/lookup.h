// LOOKUP (RFC 1813 3.3.3): one name in one directory; "." and ".." included.
#pragma once

#include <string>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// The caller checks search permission. Errors: kNotFound, kStale, kNotDirectory, kNameTooLong,
// kInvalidArgument, kCorrupt (an entry whose inode does not exist), Session::read. Cost: two reads,
// from the cache some microseconds.
Result<Attributes> lookup(Context& context, const Handle& directory, const std::string& name);

// "/a/b" from the root; symlinks are not followed (kNotDirectory). Errors: as lookup.
Result<Attributes> resolve(Context& context, const std::string& path);

}  // namespace symnas::fs
