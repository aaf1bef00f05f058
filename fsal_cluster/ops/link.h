// LINK (RFC 1813 3.3.15): another name for an inode.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// Pure. Errors: kPermission, kAlreadyExists, kIsDirectory, kStale (nlink 0: unlinked while open),
// kTooManyLinks.
Status check_link(const Credentials& who, const Node& target, const Place& place);

// Pure; after check_link. Compares: the directory's inode, the bucket, the target's inode (so
// nlink > 0). Errors: kNoSpace.
Result<kv::Mutation> plan_link(FsId fs, const Node& target, const Place& place,
                               std::int64_t now_ns);

// Errors: also kCrossDevice (directory trees), those of require_node, read_place, retry_conflicts.
Result<DirectoryChange> link(Context& context, const Credentials& who, const Handle& target,
                             const Handle& directory, const std::string& name);

}  // namespace symnas::fs
