#include "fsal_cluster/state/lock_use.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/kv/keys.h"
#include "fsal_cluster/state/lock_record.h"

namespace symnas::fs {
namespace {

constexpr std::int64_t kPageKeys = 1000;
constexpr std::size_t kForgetAtOnce = 500;
static_assert(2 * kForgetAtOnce < static_cast<std::size_t>(kv::kTxnOpsMax), "a lock and its order");

}  // namespace

Result<LockUse> lock_use(kv::Store& store, FsId fs, const std::string& vnfs,
                         std::int64_t deadline_ms) {
  const std::string prefix = kv::keys::locks(fs);
  kv::KeyRange range = kv::prefix_range(prefix);
  LockUse use;
  for (;;) {
    SYMNAS_ASSIGN(const kv::OpResult page,
                  kv::range_blocking(store, range, kPageKeys, deadline_ms));
    for (const kv::KeyValue& kv : page.kvs) {
      const auto holder = parse_lock_key(fs, kv.key);
      if (holder && holder->vnfs == vnfs) use.keys.push_back(kv.key);
    }
    if (page.kvs.size() < static_cast<std::size_t>(kPageKeys)) return use;
    range.key = page.kvs.back().key + std::string(1, '\0');
  }
}

Status forget_locks(kv::Store& store, FsId fs, const LockUse& use, const std::string& vnfs_key,
                    std::int64_t deadline_ms) {
  for (std::size_t at = 0; at < use.keys.size(); at += kForgetAtOnce) {
    kv::Txn txn;
    txn.compares.push_back(kv::key_absent(vnfs_key));
    for (std::size_t i = at; i < std::min(use.keys.size(), at + kForgetAtOnce); ++i) {
      txn.success.push_back(kv::erase(use.keys[i]));
      txn.success.push_back(kv::erase(lock_order_key(fs, use.keys[i])));
    }
    SYMNAS_ASSIGN(const kv::TxnResult done, kv::txn_blocking(store, std::move(txn), deadline_ms));
    if (!done.succeeded)
      return fail(ErrorCode::kConflict, fmt::format("{}: was made again meanwhile", vnfs_key));
  }
  return {};
}

}  // namespace symnas::fs
