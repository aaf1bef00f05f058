#include "fsal_cluster/ops/getattr.h"

#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/ops/retry.h"

namespace symnas::fs {

Result<Attributes> getattr(Context& context, const Handle& handle) {
  SYMNAS_TRY(before_strict_read(context));
  SYMNAS_ASSIGN(const Node node, require_node(context, handle));
  return current_attributes(context, node);
}

}  // namespace symnas::fs
