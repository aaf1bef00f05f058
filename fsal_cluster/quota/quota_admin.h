// Quotas from outside of a mount: for an administrator. Every change is one transaction that also
// puts the stamp, so every mount sees it. Thread-safe; blocks. No call on a store thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/kv/store.h"
#include "fsal_cluster/quota/admin_change.h"
#include "fsal_cluster/quota/records.pb.h"
#include "fsal_cluster/quota/subject.h"

namespace symnas::fs {

// Begins to count usage, or stops. A mount carries on from there (usage_keeper.h). Idempotent:
// false when it is so already. Errors: kUnavailable, kConflict (try again), kNoSpace.
enum class QuotaSwitch : std::uint8_t { kOff, kOn };
Result<bool> switch_quotas(kv::Store& store, FsId fs, QuotaSwitch to);

inline constexpr std::uint64_t kGraceDefaultS = std::uint64_t{7} * 24 * 3600;

// What is to be set of a limit; the rest stays. 0 takes one away.
struct LimitEdit {
  std::optional<std::uint64_t> bytes_hard;
  std::optional<std::uint64_t> bytes_soft;
  std::optional<std::uint64_t> inodes_hard;
  std::optional<std::uint64_t> inodes_soft;
  std::optional<std::uint64_t> bytes_grace_s;
  std::optional<std::uint64_t> inodes_grace_s;
};
// Pure. Errors: kInvalidArgument (a soft limit above the hard one).
Result<records::QuotaLimit> edited(records::QuotaLimit limit, const LimitEdit& edit);
// Errors: as switch_quotas(); those of edited(); kInvalidArgument (usage is not counted: switch it
// on first); kNotFound (no such tree).
Status set_limit(kv::Store& store, FsId fs, const Subject& subject, const LimitEdit& edit,
                 Doing doing = Doing::kChange);
// Errors: as switch_quotas(); kNotFound.
Status remove_limit(kv::Store& store, FsId fs, const Subject& subject,
                    Doing doing = Doing::kChange);

struct QuotaReport {
  records::QuotaMode mode;
  struct Row {
    Usage used;
    std::optional<records::QuotaLimit> limit;  // that holds, or of a tree is going to
    bool by_each = false;                      // it is the limit of each user or group
    records::QuotaGrace grace;
  };
  std::map<Subject, Row> rows;  // who uses something, or has a limit; every tree; each user, group
  std::map<std::uint32_t, records::QuotaTree> trees;
};
// As recorded: without what mounts have acknowledged and not recorded yet. Errors: kUnavailable.
Result<QuotaReport> read_quotas(kv::Store& store, FsId fs);

}  // namespace symnas::fs
