#include "fsal_cluster/state/lock_use.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/kv/keys.h"
#include "common/kv/lock_keys.h"
#include "fsal_cluster/state/lock_record.h"

namespace symnas::fs {
namespace {

constexpr std::int64_t kPageKeys = 1000;
constexpr std::size_t kForgetAtOnce = 1000;
static_assert(kForgetAtOnce < static_cast<std::size_t>(kv::kTxnOpsMax));

// The keys of a table that are of the VNFS; their identities are those of locks.
Result<std::vector<std::string>> keys_of(kv::Store& store, FsId fs, const std::string& table,
                                         const std::string& vnfs, std::int64_t deadline_ms) {
  std::vector<std::string> keys;
  kv::KeyRange range = kv::prefix_range(table);
  for (;;) {
    SYMNAS_ASSIGN(const kv::OpResult page,
                  kv::range_blocking(store, range, kPageKeys, deadline_ms));
    for (const kv::KeyValue& kv : page.kvs) {
      const auto holder = parse_lock_key(fs, kv::keys::locks(fs) + kv.key.substr(table.size()));
      if (holder && holder->vnfs == vnfs) keys.push_back(kv.key);
    }
    if (page.kvs.size() < static_cast<std::size_t>(kPageKeys)) return keys;
    range.key = page.kvs.back().key + std::string(1, '\0');
  }
}

}  // namespace

Result<LockUse> lock_use(kv::Store& store, FsId fs, const std::string& vnfs,
                         std::int64_t deadline_ms) {
  LockUse use;
  SYMNAS_ASSIGN(use.keys, keys_of(store, fs, kv::keys::locks(fs), vnfs, deadline_ms));
  SYMNAS_ASSIGN(use.waits, keys_of(store, fs, kv::keys::lock_waits(fs), vnfs, deadline_ms));
  return use;
}

Status forget_locks(kv::Store& store, FsId fs, const LockUse& use, const std::string& vnfs_key,
                    std::int64_t deadline_ms) {
  std::vector<std::string> all = use.waits;
  for (const std::string& key : use.keys) {
    all.push_back(key);
    all.push_back(lock_order_key(fs, key));
  }
  for (std::size_t at = 0; at < all.size(); at += kForgetAtOnce) {
    kv::Txn txn;
    txn.compares.push_back(kv::key_absent(vnfs_key));
    for (std::size_t i = at; i < std::min(all.size(), at + kForgetAtOnce); ++i)
      txn.success.push_back(kv::erase(all[i]));
    SYMNAS_ASSIGN(const kv::TxnResult done, kv::txn_blocking(store, std::move(txn), deadline_ms));
    if (!done.succeeded)
      return fail(ErrorCode::kConflict, fmt::format("{}: was made again meanwhile", vnfs_key));
  }
  return {};
}

}  // namespace symnas::fs
