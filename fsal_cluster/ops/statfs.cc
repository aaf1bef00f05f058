#include "fsal_cluster/ops/statfs.h"

#include <algorithm>

#include "fsal_cluster/ops/limits.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {

std::uint64_t room_for_files(const kv::QuotaGauge& quota) {
  if (quota.quota_bytes() <= 0) return kFilesShown;
  const std::int64_t left_permille =
      std::max<std::int64_t>(kv::kQuotaReservePermille - quota.in_use_permille(), 0);
  const std::int64_t left_bytes = quota.quota_bytes() / 1000 * left_permille;
  return std::min(static_cast<std::uint64_t>(left_bytes) / kFileBytesInStore, kFilesShown);
}

namespace {

void hold(std::uint64_t& total, std::uint64_t& free, const QuotaStanding::Side& side) {
  const std::uint64_t limit = side.soft != 0 ? side.soft : side.hard;
  if (limit == 0) return;
  total = std::min(total, limit);
  free = std::min(free, limit - std::min(side.used, limit));
}

}  // namespace

SpaceUse within(SpaceUse space, const QuotaStanding& standing) {
  hold(space.total_bytes, space.free_bytes, standing.bytes);
  hold(space.total_files, space.free_files, standing.inodes);
  return space;
}

Result<SpaceUse> statfs(Context& context, const FileUse& files) {
  SYMNAS_ASSIGN(SpaceUse space, context.data.space());
  space.free_files = files.free;
  space.total_files = files.used + files.free;
  return space;
}

}  // namespace symnas::fs
