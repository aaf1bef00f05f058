// QuotaStanding: what a subject uses of what it may, for whoever asks (quota(1) of a client). What
// has been acknowledged and is not recorded yet is not in it. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "fsal_cluster/quota/subject.h"
#include "fsal_cluster/quota/usage_table.h"

namespace symnas::fs {

struct QuotaStanding {
  struct Side {
    std::uint64_t hard = 0;  // 0: no limit
    std::uint64_t soft = 0;
    std::uint64_t used = 0;
    // Until the soft limit holds like the hard one, rounded up; 0: it is not passed, has no grace
    // that ends, or holds already.
    std::uint64_t grace_left_s = 0;
    friend bool operator==(const Side&, const Side&) = default;
  };
  Side bytes;
  Side inodes;
};

// nullopt: limits are not held (off, or not everything is counted yet). `now_ns`: filesystem time.
std::optional<QuotaStanding> standing_of(const UsageTable& table, const Subject& subject,
                                         std::uint32_t block_bytes, std::int64_t now_ns);

}  // namespace symnas::fs
