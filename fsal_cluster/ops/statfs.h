// FSSTAT (RFC 1813 3.3.18).
#pragma once

#include <cstdint>

#include "common/base/result.h"
#include "common/kv/quota.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/quota/standing.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

struct FileUse {
  std::uint64_t used = 0;  // inodes that exist
  std::uint64_t free = 0;  // about how many more fit
};

// How many more small files fit into what is left of etcd's quota before files are refused
// (kQuotaReservePermille), by the usual cost of one; at most kFilesShown, also without a quota.
// Pure.
std::uint64_t room_for_files(const kv::QuotaGauge& quota);

// What a limit leaves, as XFS shows project quotas by statfs(2): the soft limit, else the hard one,
// is all there is, if that is less than there is. What is free is never more than was free. Pure.
SpaceUse within(SpaceUse space, const QuotaStanding& standing);

// Bytes of the volume, from the allocator. Inode numbers never run out: etcd's quota is the limit
// of files. Errors: FileData::space.
Result<SpaceUse> statfs(Context& context, const FileUse& files);

}  // namespace symnas::fs
