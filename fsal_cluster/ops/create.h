// CREATE (RFC 1813 3.3.8) of regular files: unchecked, guarded, exclusive.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// kUnchecked on an existing regular file applies a size of 0 and no other attribute. kExclusive on
// a file that was made with the same verifier succeeds again, because the first reply was lost.
// Errors: as add_node; kAlreadyExists (guarded, exclusive, or unchecked on something that is no
// regular file), kIsDirectory (unchecked on a directory), kPermission (also: truncating without
// write permission).
Result<Created> create(Context& context, const Credentials& who, const Handle& directory,
                       const std::string& name, CreateMode mode, std::uint64_t verifier,
                       const NewNode& node);

}  // namespace symnas::fs
