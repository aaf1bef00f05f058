#include "fsal_cluster/ops/mknod.h"

#include "fsal_cluster/access/access.h"
#include "fsal_cluster/ops/new_node.h"

namespace symnas::fs {
namespace {

Status check_type(const Credentials& who, const std::string& name, FileType type) {
  switch (type) {
    case FileType::kBlockDevice:
    case FileType::kCharDevice:
      if (is_root(who)) return {};
      return fail(ErrorCode::kNotOwner, name + ": only root makes device nodes");
    case FileType::kFifo:
    case FileType::kSocket: return {};
    case FileType::kRegular:
    case FileType::kDirectory:
    case FileType::kSymlink:
      return fail(ErrorCode::kInvalidArgument, name + ": not a type that MKNOD makes");
  }
  return fail(ErrorCode::kInvalidArgument, name + ": unknown file type");
}

}  // namespace

Result<Created> mknod(Context& context, const Credentials& who, const Handle& directory,
                      const std::string& name, const NewNode& node) {
  SYMNAS_TRY(check_type(who, name, node.type));
  return add_node(context, NewNodeRequest{who, directory, name, node.type, node, {}});
}

}  // namespace symnas::fs
