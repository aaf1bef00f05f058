#include "fsal_cluster/quota/standing.h"

#include <algorithm>

namespace symnas::fs {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

std::uint64_t left_s(std::int64_t since_ns, std::uint64_t grace_s, std::int64_t now_ns) {
  if (since_ns <= 0 || grace_s == 0) return 0;
  const auto grace_ns =
      static_cast<std::int64_t>(std::min<std::uint64_t>(grace_s, std::uint64_t{1} << 32)) *
      kSecondNs;
  const std::int64_t left_ns = grace_ns - (now_ns - since_ns);
  return left_ns <= 0 ? 0 : static_cast<std::uint64_t>((left_ns + kSecondNs - 1) / kSecondNs);
}

}  // namespace

std::optional<QuotaStanding> standing_of(const UsageTable& table, const Subject& subject,
                                         std::uint32_t block_bytes, std::int64_t now_ns) {
  if (!table.mode().on()) return std::nullopt;
  const auto held = table.limit(subject);
  const records::QuotaLimit limit = held ? held->record : records::QuotaLimit();
  const records::QuotaGrace grace = table.grace(subject);
  const Usage used = table.total(subject);
  // Another mount's change may be seen in two parts.
  const auto blocks = static_cast<std::uint64_t>(std::max<std::int64_t>(used.blocks, 0));
  const auto inodes = static_cast<std::uint64_t>(std::max<std::int64_t>(used.inodes, 0));
  return QuotaStanding{{limit.bytes_hard(), limit.bytes_soft(), blocks * block_bytes,
                        left_s(grace.bytes_since_ns(), limit.bytes_grace_s(), now_ns)},
                       {limit.inodes_hard(), limit.inodes_soft(), inodes,
                        left_s(grace.inodes_since_ns(), limit.inodes_grace_s(), now_ns)}};
}

}  // namespace symnas::fs
