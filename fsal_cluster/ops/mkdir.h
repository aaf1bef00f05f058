// MKDIR (RFC 1813 3.3.9).
#pragma once

#include <string>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// A directory in a setgid directory gets its group and its setgid bit. Errors: as add_node.
Result<Created> mkdir(Context& context, const Credentials& who, const Handle& directory,
                      const std::string& name, const NewNode& node);

}  // namespace symnas::fs
