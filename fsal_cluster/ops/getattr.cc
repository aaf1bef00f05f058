#include "fsal_cluster/ops/getattr.h"

#include <string>
#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/ops/retry.h"

namespace symnas::fs {

Result<Attributes> getattr(Context& context, const Handle& handle) {
  SYMNAS_ASSIGN(const Membership::Stay stay, before_strict_read(context));
  SYMNAS_ASSIGN(const Node node, require_node(context, handle));
  return current_attributes(context, node);
}

std::optional<Result<Attributes>> getattr_from_cache(Context& context, const Handle& handle,
                                                     Freshness freshness) {
  const Membership::Stay stay = context.membership.enter();
  const bool current = is_current(context, stay);
  if (!current && freshness == Freshness::kStrict) return std::nullopt;  // needs a barrier
  const std::string key = kv::keys::inode(context.fs, handle.ino);
  const auto [cached, overlay] =
      read_consistent(context.data, handle.ino, [&] { return context.session.peek(key); });
  if (!cached) return std::nullopt;
  Result<Node> node = node_of(context, handle, *cached);
  if (!node && !current) return std::nullopt;  // another mount may have made it
  if (!node) return tl::unexpected<Error>(std::move(node.error()));
  if (!node->is_directory()) {
    Attributes out = attributes_of(context.fs, *node, context.block_bytes);
    if (node->is_regular())
      show(node->record, node->mod_revision, overlay, context.block_bytes, out);
    return out;
  }
  const auto times = context.session.peek(kv::keys::directory_times(context.fs, handle.ino));
  if (!times) return std::nullopt;
  const Result<Directory> directory = parse_directory(std::move(*node), *times);
  if (!directory) return tl::unexpected<Error>(directory.error());
  return attributes_of(context.fs, *directory);
}

}  // namespace symnas::fs
