#include "fsal_cluster/state/lock_admin.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/schema/mount_entry.h"
#include "fsal_cluster/schema/stamp.h"
#include "fsal_cluster/state/served.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

// The newest mount of each VNFS that has not ended.
Result<std::map<std::string, Revision>> mounts_of_vnfses(kv::Store& store, FsId fs) {
  SYMNAS_ASSIGN(const std::vector<MountEntry> mounts, list_mounts(store, fs));
  std::map<std::string, Revision> out;
  for (const MountEntry& mount : mounts)
    if (mount.alive()) out[mount.record.vnfs()] = mount.create_revision;
  return out;
}

struct ClearView {
  kv::OpResult claim;
  kv::OpResult lock;
  kv::OpResult stamp;
  bool mounted = false;
};

Result<ClearView> read_clear_view(kv::Store& store, FsId fs, const LockEntry& lock) {
  kv::Txn txn;
  txn.success = {kv::get(kv::keys::mount_claim(fs)), kv::get(lock.key),
                 kv::get(kv::keys::stamp(fs))};
  SYMNAS_ASSIGN(kv::TxnResult read, kv::txn_blocking(store, std::move(txn), kAdminDeadlineMs));
  // Read after the claim key: a mount that is claimed after this read changes that key.
  SYMNAS_ASSIGN(const std::vector<MountEntry> mounts, list_mounts(store, fs));
  return ClearView{std::move(read.results[0]), std::move(read.results[1]),
                   std::move(read.results[2]), is_served(mounts, lock.vnfs)};
}

std::string order_of(const env::Clock& clock, const LockEntry& lock, const std::string& by) {
  records::LockOrder order;
  order.set_kind(records::LockOrder::CLEAR);
  order.set_lock_revision(lock.revision.value());
  order.set_ordered_ns(clock.wall_ns());
  order.set_by(by);
  return order.SerializeAsString();
}

enum class Begun { kReleased, kOrdered, kChanged };

// Orders the clearing if the VNFS has a mount, or else releases the lock.
Result<Begun> begin_clear(kv::Store& store, const env::Clock& clock, FsId fs, const LockEntry& lock,
                          const std::string& by) {
  const std::string order_key = lock_order_key(fs, lock.key);
  for (int attempt = 0; attempt < kConflictRetriesMax; ++attempt) {
    SYMNAS_ASSIGN(const ClearView view, read_clear_view(store, fs, lock));
    if (view.lock.kvs.empty() || view.lock.kvs.front().mod_revision != lock.revision) {
      // An earlier try may have done it.
      return attempt > 0 && view.lock.kvs.empty() ? Begun::kReleased : Begun::kChanged;
    }
    StampAdvance stamp = advance_stamp(fs, view.stamp, attempt);
    const Revision claimed =
        view.claim.kvs.empty() ? Revision{} : view.claim.kvs.front().mod_revision;
    kv::Txn txn;
    txn.compares = {kv::mod_revision_is(lock.key, lock.revision), no_claim_since(fs, claimed),
                    std::move(stamp.compare)};
    txn.success = {std::move(stamp.put)};
    if (view.mounted) {
      txn.success.push_back(kv::put(order_key, order_of(clock, lock, by)));
    } else {
      txn.success.push_back(kv::erase(lock.key));
      txn.success.push_back(kv::erase(order_key));
    }
    const auto done = kv::txn_blocking(store, std::move(txn), kAdminDeadlineMs);
    if (done && done->succeeded) return view.mounted ? Begun::kOrdered : Begun::kReleased;
    if (!done && !kv::maybe_executed(done.error())) return tl::unexpected<Error>(done.error());
  }
  return fail(ErrorCode::kConflict, "locks: mounts of the filesystem keep changing; try again");
}

Result<std::optional<kv::KeyValue>> read_key(kv::Store& store, const std::string& key) {
  SYMNAS_ASSIGN(kv::OpResult found,
                kv::range_blocking(store, kv::single_key(key), 1, kAdminDeadlineMs));
  if (found.kvs.empty()) return std::optional<kv::KeyValue>();
  return std::optional<kv::KeyValue>(std::move(found.kvs.front()));
}

Status take_back(kv::Store& store, FsId fs, const std::string& order_key) {
  for (int attempt = 0; attempt < kConflictRetriesMax; ++attempt) {
    kv::Txn look;
    look.success = {kv::get(order_key), kv::get(kv::keys::stamp(fs))};
    SYMNAS_ASSIGN(kv::TxnResult read, kv::txn_blocking(store, std::move(look), kAdminDeadlineMs));
    if (read.results[0].kvs.empty()) return {};  // obeyed
    StampAdvance stamp = advance_stamp(fs, read.results[1], attempt);
    kv::Txn txn;
    txn.compares = {kv::mod_revision_is(order_key, read.results[0].kvs.front().mod_revision),
                    std::move(stamp.compare)};
    txn.success = {kv::erase(order_key), std::move(stamp.put)};
    const auto done = kv::txn_blocking(store, std::move(txn), kAdminDeadlineMs);
    if (done && done->succeeded) return {};
    if (!done && !kv::maybe_executed(done.error())) return tl::unexpected<Error>(done.error());
  }
  return fail(ErrorCode::kConflict, "locks: an order could not be taken back; try again");
}

// Waits for the mounts. A mount that is claimed meanwhile obeys no order from before its claim: the
// order is given again.
Status wait_until_obeyed(kv::Store& store, const env::Clock& clock, FsId fs,
                         std::vector<LockEntry> ordered, const std::string& by,
                         std::int64_t wait_ms) {
  for (std::int64_t waited_ms = 0; waited_ms < wait_ms; waited_ms += kLockClearPollMs) {
    SYMNAS_ASSIGN(const kv::OpResult orders,
                  kv::range_blocking(store, kv::prefix_range(kv::keys::lock_orders(fs)), 0,
                                     kAdminDeadlineMs));
    std::set<std::string> left;
    for (const kv::KeyValue& kv : orders.kvs) left.insert(kv.key);
    std::vector<LockEntry> waiting;
    for (LockEntry& lock : ordered) {
      if (!left.contains(lock_order_key(fs, lock.key))) {
        SYMNAS_ASSIGN(const auto stored, read_key(store, lock.key));
        if (!stored || stored->mod_revision != lock.revision) continue;
        SYMNAS_TRY(begin_clear(store, clock, fs, lock, by));
      }
      waiting.push_back(std::move(lock));
    }
    if (waiting.empty()) return {};
    ordered = std::move(waiting);
    std::this_thread::sleep_for(std::chrono::milliseconds(kLockClearPollMs));
  }
  return {};
}

}  // namespace

Status for_each_lock(kv::Store& store, FsId fs, const std::function<bool(LockEntry)>& take) {
  kv::KeyRange range = kv::prefix_range(kv::keys::locks(fs));
  for (;;) {
    SYMNAS_ASSIGN(const kv::OpResult page,
                  kv::range_blocking(store, range, kLocksPage, kAdminDeadlineMs));
    if (page.kvs.empty()) return {};
    // Read after the records: a mount that is missing here is younger than all of them.
    SYMNAS_ASSIGN(const auto mounts, mounts_of_vnfses(store, fs));
    SYMNAS_ASSIGN(const std::vector<ParsedLock> parsed, parse_locks(fs, page.kvs));
    for (std::size_t i = 0; i < parsed.size(); ++i) {
      const kv::KeyValue& kv = page.kvs[i];
      const records::LockRecord& record = parsed[i].record;
      LockEntry entry;
      entry.key = kv.key;
      entry.revision = kv.mod_revision;
      entry.ino = Ino{record.ino()};
      entry.vnfs = record.vnfs();
      entry.owner = owner_of(record);
      entry.lock = lock_of(record);
      const auto mount = mounts.find(entry.vnfs);
      entry.is_older_than_mount = mount == mounts.end() || kv.mod_revision < mount->second;
      if (!take(std::move(entry))) return {};
    }
    if (!page.more) return {};
    range.key = page.kvs.back().key + '\0';
  }
}

Result<std::vector<LockEntry>> list_locks(kv::Store& store, FsId fs) {
  std::vector<LockEntry> out;
  SYMNAS_TRY(for_each_lock(store, fs, [&out](LockEntry entry) {
    out.push_back(std::move(entry));
    return true;
  }));
  return out;
}

Result<ClearedLocks> clear_locks(kv::Store& store, const env::Clock& clock, FsId fs,
                                 const std::vector<LockEntry>& locks, const std::string& by,
                                 std::int64_t wait_ms) {
  ClearedLocks out;
  std::vector<LockEntry> ordered;
  for (const LockEntry& lock : locks) {
    SYMNAS_ASSIGN(const Begun begun, begin_clear(store, clock, fs, lock, by));
    if (begun == Begun::kReleased) ++out.released;
    if (begun == Begun::kChanged) ++out.changed;
    if (begun == Begun::kOrdered) ordered.push_back(lock);
  }
  SYMNAS_TRY(wait_until_obeyed(store, clock, fs, ordered, by, wait_ms));
  std::set<std::string> unanswered;
  for (const LockEntry& lock : ordered) {
    SYMNAS_TRY(take_back(store, fs, lock_order_key(fs, lock.key)));
    SYMNAS_ASSIGN(const auto stored, read_key(store, lock.key));
    if (!stored || stored->create_revision > lock.revision) {
      ++out.released;  // the present record was made by a later lock
    } else if (stored->mod_revision == lock.revision) {
      unanswered.insert(lock.vnfs);
    } else {
      ++out.changed;
    }
  }
  out.unanswered.assign(unanswered.begin(), unanswered.end());
  return out;
}

}  // namespace symnas::fs
