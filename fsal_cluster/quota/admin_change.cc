#include "fsal_cluster/quota/admin_change.h"

#include <utility>

#include "fsal_cluster/schema/stamp.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {

Result<bool> change_record(kv::Store& store, FsId fs, const std::string& key,
                           const ChangePlan& plan, Doing doing) {
  for (int attempt = 0; attempt < kConflictRetriesMax; ++attempt) {
    kv::Txn look;
    look.success = {kv::get(key), kv::get(kv::keys::stamp(fs))};
    SYMNAS_ASSIGN(kv::TxnResult read, kv::txn_blocking(store, std::move(look), kAdminDeadlineMs));
    std::optional<kv::KeyValue> now;
    if (!read.results[0].kvs.empty()) now = read.results[0].kvs.front();
    SYMNAS_ASSIGN(PlannedChange planned, plan(now));
    if (planned.writes.empty()) return attempt > 0;  // an earlier try may have done it
    if (doing == Doing::kCheck) return true;
    StampAdvance stamp = advance_stamp(fs, read.results[1], attempt);
    kv::Txn txn;
    txn.compares = {kv::mod_revision_is(key, now ? now->mod_revision : Revision{0}),
                    std::move(stamp.compare)};
    for (kv::Compare& compare : planned.compares) txn.compares.push_back(std::move(compare));
    txn.success = std::move(planned.writes);
    txn.success.push_back(std::move(stamp.put));
    const auto done = kv::txn_blocking(store, std::move(txn), kAdminDeadlineMs);
    if (done && done->succeeded) return true;
    if (!done && !kv::maybe_executed(done.error())) return tl::unexpected<Error>(done.error());
  }
  return fail(ErrorCode::kConflict, "quota: others keep changing the same record; try again");
}

}  // namespace symnas::fs
