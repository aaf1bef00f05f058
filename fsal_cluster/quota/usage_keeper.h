// UsageKeeper: what must be done about usage beside the transactions: it brings counting into force
// (ARMING, COUNTING with a scan of all inodes, ON), folds slots that are full or whose mount has
// ended into the bases, marks directory trees, and records since when a subject is above a soft
// limit.
//
// Of all mounts the one with the smallest id does what needs to be done once; two that do it at the
// same time do no harm, because every step compares what it was decided from.
//
// Thread class: thread-safe. Owns a thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "common/base/loop.h"
#include "common/base/result.h"
#include "fsal_cluster/quota/accounting_session.h"
#include "fsal_cluster/quota/tree_marker.h"
#include "fsal_cluster/quota/usage_table.h"

namespace symnas::fs {

// What graces a subject has, by its limit and usage. Pure.
records::QuotaGrace grace_of(const records::QuotaLimit& limit, const Usage& used,
                             std::uint32_t block_bytes, const records::QuotaGrace& before,
                             std::int64_t now_ns);

class UsageKeeper {
 public:
  struct Options {
    FsId fs;
    MountId self;
    std::uint32_t block_bytes = 4096;
    // The other mounts that have not ended; nullopt: unknown.
    std::function<std::optional<std::vector<MountId>>()> others;
  };
  // `session` and `table` outlive it.
  UsageKeeper(AccountingSession& session, UsageTable& table, Options options);
  ~UsageKeeper() { stop(); }
  UsageKeeper(const UsageKeeper&) = delete;
  UsageKeeper& operator=(const UsageKeeper&) = delete;
  // Waits for the turn under way. Idempotent.
  void stop();

  // One turn; the keeper's thread calls it every kQuotaTurnNs. Errors: those of Session.
  Status turn();

 private:
  bool is_first(const std::vector<MountId>& others) const;
  // Whether every mount knows this mode.
  Result<bool> all_know(UsageTable::Mode mode, const std::vector<MountId>& others);
  Status fold_ended(const std::vector<MountId>& others);
  Status advance(UsageTable::Mode mode, const std::vector<MountId>& others);
  // Puts every record that is not counted; answers how many there were.
  Result<std::size_t> scan(std::uint32_t epoch);
  Status touch(const std::vector<kv::KeyValue>& some);
  Status put_mode(UsageTable::Mode from, records::QuotaMode::State to);
  Status keep_graces();

  AccountingSession& session_;
  UsageTable& table_;
  const Options options_;
  TreeMarker marker_;
  Loop loop_;  // last: it uses all else
};

}  // namespace symnas::fs
