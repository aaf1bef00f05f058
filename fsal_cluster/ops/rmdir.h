// RMDIR (RFC 1813 3.3.13).
#pragma once

#include <string>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/ops/link_drop.h"
#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// Pure. Errors: kPermission, kNotOwner, kNotDirectory.
Status check_rmdir(const Credentials& who, const Place& place, const Node& target);
// Pure. Deletes the inode and the content times of an empty directory. Compares: its inode, and
// that it has no entry.
TxnPart plan_directory_removal(FsId fs, const Node& directory);
// Pure. Compares: the parent's inode, the bucket, and what plan_directory_removal compares.
// REQUIRES: place.entry().
kv::Mutation plan_rmdir(FsId fs, const Place& place, const Node& target, std::int64_t now_ns);

// Whether the directory has no entry. Cost: one linearizable read of one key. Errors: kNotEmpty,
// Session::range.
Status check_empty(Context& context, Ino directory, const std::string& name);

// Errors: kNotFound, kNotEmpty, those of check_rmdir, read_place, retry_conflicts.
Result<DirectoryChange> rmdir(Context& context, const Credentials& who, const Handle& directory,
                              const std::string& name);

}  // namespace symnas::fs
