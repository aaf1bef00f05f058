// REMOVE of anything but a directory (RFC 1813 3.3.12).
#pragma once

#include <string>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/ops/link_drop.h"
#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// Pure. Errors: kPermission, kNotOwner (sticky directory), kIsDirectory.
Status check_unlink(const Credentials& who, const Place& place, const Node& target);
// Pure. Compares: the directory's inode, the bucket, and what `drop` compares (the target's inode).
// REQUIRES: place.entry().
kv::Mutation plan_unlink(FsId fs, const Place& place, const TxnPart& drop, std::int64_t now_ns);

// Errors: kNotFound, those of check_unlink, read_place, retry_conflicts.
Result<DirectoryChange> unlink(Context& context, const Credentials& who, const Handle& directory,
                               const std::string& name);

}  // namespace symnas::fs
