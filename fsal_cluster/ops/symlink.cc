#include "fsal_cluster/ops/symlink.h"

#include "fsal_cluster/ops/new_node.h"

namespace symnas::fs {

Result<Created> symlink(Context& context, const Credentials& who, const Handle& directory,
                        const std::string& name, const NewNode& node) {
  const std::string& target = node.symlink_target;
  if (target.empty() || target.find('\0') != target.npos)
    return fail(ErrorCode::kInvalidArgument, name + ": not a possible symlink target");
  if (target.size() > kSymlinkBytesMax)
    return fail(ErrorCode::kNameTooLong, name + ": a symlink target has at most " +
                                             std::to_string(kSymlinkBytesMax) + " bytes");
  return add_node(context, NewNodeRequest{who, directory, name, FileType::kSymlink, node, {}});
}

}  // namespace symnas::fs
