#include "fsal_cluster/ops/mkdir.h"

#include "fsal_cluster/ops/new_node.h"

namespace symnas::fs {

Result<Created> mkdir(Context& context, const Credentials& who, const Handle& directory,
                      const std::string& name, const NewNode& node) {
  return add_node(context, NewNodeRequest{who, directory, name, FileType::kDirectory, node, {}});
}

}  // namespace symnas::fs
