#include "fsal_cluster/ops/readlink.h"

#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/ops/retry.h"

namespace symnas::fs {

Result<std::string> readlink(Context& context, const Handle& handle) {
  SYMNAS_ASSIGN(const Membership::Stay stay, before_strict_read(context));
  SYMNAS_ASSIGN(const Node node, require_node(context, handle));
  if (node.type() != FileType::kSymlink)
    return fail(ErrorCode::kInvalidArgument,
                "inode " + std::to_string(handle.ino.value()) + ": not a symbolic link");
  return node.record.symlink_target();
}

}  // namespace symnas::fs
