// MKNOD (RFC 1813 3.3.11): devices, fifos and sockets.
#pragma once

#include <string>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// Errors: as add_node; kNotOwner (devices: root only), kInvalidArgument (node.type is none of the
// four).
Result<Created> mknod(Context& context, const Credentials& who, const Handle& directory,
                      const std::string& name, const NewNode& node);

}  // namespace symnas::fs
