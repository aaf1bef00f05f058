#include "fsal_cluster/ops/orphan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/ops/retry.h"
#include "fsal_cluster/ops/xattrs.h"

namespace symnas::fs {
namespace {

bool puts(const TxnPart& part, const std::string& key) {
  return std::any_of(part.writes.begin(), part.writes.end(),
                     [&](const kv::Op& op) { return op.range.key == key; });
}

Status remove_record(Context& context, const Node& node) {
  if (!node.is_regular()) {
    const auto done = commit(context, plan_orphan_end(context.fs, node, {}));
    return done ? Status() : Status(tl::unexpected<Error>(done.error()));
  }
  SYMNAS_ASSIGN(FileData::Removal removal,
                context.data.plan_removal(handle_of(context, node), node.record));
  const TxnPart part{removal.compares, removal.writes};
  const auto done = commit(context, plan_orphan_end(context.fs, node, part));
  if (!done) {
    context.data.abandoned(std::move(removal));
    return tl::unexpected<Error>(done.error());
  }
  context.data.removed(std::move(removal));
  return {};
}

}  // namespace

kv::Mutation plan_orphan_end(FsId fs, const Node& node, const TxnPart& removal) {
  const std::string orphan = kv::keys::orphan(fs, node.ino);
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {unchanged(fs, node)};
  mutation.writes = {kv::erase(kv::keys::inode(fs, node.ino))};
  erase_xattrs(fs, node, mutation.writes);
  removal.add_to(mutation);
  if (!puts(removal, orphan)) mutation.writes.push_back(kv::erase(orphan));
  return mutation;
}

Status end_orphan(Context& context, Ino ino) {
  std::optional<OpenFiles::Removal> frozen;
  do {
    frozen.emplace(context.open_files.begin_removal(ino));
    // Opened by handle, or reclaimed, since.
    if (frozen->open() && frozen->orphaned() == OpenFiles::Closed::kStillNeeded) return {};
  } while (frozen->open());
  return retry_conflicts(context, [&](int) -> Status {
    SYMNAS_ASSIGN(const std::optional<Node> node, find_node(context, ino));
    if (!node || node->record.nlink() > 0) return {};
    return remove_record(context, *node);
  });
}

}  // namespace symnas::fs
