// SYMLINK (RFC 1813 3.3.10).
#pragma once

#include <string>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// node.symlink_target is stored as it is. Errors: as add_node; kInvalidArgument (empty target or a
// NUL in it), kNameTooLong (more than kSymlinkBytesMax).
Result<Created> symlink(Context& context, const Credentials& who, const Handle& directory,
                        const std::string& name, const NewNode& node);

}  // namespace symnas::fs
