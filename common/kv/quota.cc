#include "common/kv/quota.h"

#include <algorithm>
#include <string>

namespace symnas::kv {

std::int64_t quota_look_ms(std::int64_t quota_bytes) {
  if (quota_bytes <= 0) return kQuotaLookMaxMs;
  return std::clamp(quota_bytes / 20 / kQuotaGrowthPerMs, kQuotaLookMinMs, kQuotaLookMaxMs);
}

QuotaUse quota_use(std::int64_t quota_bytes, const std::vector<MemberStatus>& members) {
  QuotaUse use;
  for (const MemberStatus& member : members) {
    if (!member.reachable) continue;
    use.known = true;
    const auto permille = [quota_bytes](std::int64_t bytes) {
      return static_cast<std::int64_t>(static_cast<double>(bytes) * 1000.0 /
                                       static_cast<double>(quota_bytes));
    };
    use.in_use_permille = std::max(use.in_use_permille, permille(member.db_in_use_bytes));
    use.allocated_permille = std::max(use.allocated_permille, permille(member.db_size_bytes));
    use.refused = use.refused || member.no_space_alarm || member.db_size_bytes >= quota_bytes;
  }
  return use;
}

QuotaLevel next_level(QuotaLevel now, const QuotaUse& use) {
  if (!use.known) return now;
  if (use.refused) return QuotaLevel::kCritical;
  // A file near the quota may be unable to grow any more: only its free pages count as room, and
  // what it lacks to the quota counts as used.
  std::int64_t used = use.in_use_permille;
  if (use.allocated_permille >= kQuotaFilePermille) {
    used += 1000 - use.allocated_permille;
  }
  const auto reaches = [&](std::int64_t limit, QuotaLevel level) {
    return used >= (now >= level ? limit - kQuotaHysteresisPermille : limit);
  };
  if (reaches(kQuotaCriticalPermille, QuotaLevel::kCritical)) return QuotaLevel::kCritical;
  if (reaches(kQuotaReservePermille, QuotaLevel::kReserve)) return QuotaLevel::kReserve;
  return QuotaLevel::kFree;
}

const char* name_of(QuotaLevel level) {
  switch (level) {
    case QuotaLevel::kFree: return "free";
    case QuotaLevel::kReserve: return "reserve";
    case QuotaLevel::kCritical: return "critical";
  }
  return "?";
}

void QuotaGauge::look(const std::vector<MemberStatus>& members) {
  if (quota_bytes_ <= 0) return;
  const QuotaUse use = quota_use(quota_bytes_, members);
  if (!use.known) return;
  in_use_permille_.store(use.in_use_permille, std::memory_order_relaxed);
  level_.store(next_level(level(), use), std::memory_order_relaxed);
}

Status QuotaGauge::admit(Growth growth) const {
  const QuotaLevel now = level();
  const bool refused = (growth == Growth::kGrows && now >= QuotaLevel::kReserve) ||
                       (growth == Growth::kChanges && now >= QuotaLevel::kCritical);
  if (!refused) return {};
  return fail(ErrorCode::kNoSpace,
              "etcd: " + std::to_string(in_use_permille_.load(std::memory_order_relaxed) / 10) +
                  " % of its quota are in use (level " + name_of(now) +
                  "): delete files, or raise etcd.quota_bytes (symnas status)");
}

}  // namespace symnas::kv
