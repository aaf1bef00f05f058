// FSSTAT (RFC 1813 3.3.18).
#pragma once

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// Bytes of the volume, from the allocator. Inode numbers never run out: the file counts are as
// large as df can show. Errors: FileData::space.
Result<SpaceUse> statfs(Context& context);

}  // namespace symnas::fs
