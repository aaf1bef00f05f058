#include "fsal_cluster/repair/snapshot.h"

#include <utility>

#include "fsal_cluster/types/limits.h"

namespace symnas::fs::repair {

Result<std::optional<kv::KeyValue>> Snapshot::get(const std::string& key) {
  if (const auto known = read_.find(key); known != read_.end()) return known->second;
  SYMNAS_ASSIGN(std::vector<kv::KeyValue> found, range(kv::single_key(key), 1));
  std::optional<kv::KeyValue> value;
  if (!found.empty()) value = std::move(found.front());
  return read_.emplace(key, std::move(value)).first->second;
}

Result<std::vector<kv::KeyValue>> Snapshot::range(const kv::KeyRange& range, std::int64_t limit) {
  kv::Op op = kv::get_range(range, limit);
  op.revision = revision_;
  kv::Txn txn;
  txn.success = {std::move(op)};
  SYMNAS_ASSIGN(kv::TxnResult read, kv::txn_blocking(store_, std::move(txn), kAdminDeadlineMs));
  return std::move(read.results.front().kvs);
}

}  // namespace symnas::fs::repair
