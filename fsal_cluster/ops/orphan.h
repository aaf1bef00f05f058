// The end of an inode that was unlinked while open: at its last close, or by the sweep after its
// mount has ended.
#pragma once

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/ops/link_drop.h"

namespace symnas::fs {

// Pure. Deletes a nameless inode and its orphan record. When `removal` (which frees the data) puts
// an orphan record of its own, that one stays. Compares: the inode.
kv::Mutation plan_orphan_end(FsId fs, const Node& node, const TxnPart& removal);

// Removes the inode if it still exists and has no link, unless this process holds it open (again):
// then the last close removes it. Idempotent. Errors: those of plan_removal, retry_conflicts.
Status end_orphan(Context& context, Ino ino);

}  // namespace symnas::fs
