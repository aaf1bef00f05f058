#include "common/kv/batch.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/check.h"

namespace symnas::kv {

namespace {

// Makes one put per key, with the last operation's value; notes for each operation whether it
// shares a put.
void merge_puts(Batch& batch) {
  std::unordered_map<std::string_view, std::vector<std::size_t>> users;
  std::unordered_map<std::string_view, std::size_t> place;
  for (std::size_t i = 0; i < batch.operations.size(); ++i) {
    for (const auto& op : batch.operations[i]->mutation.merged_puts) {
      users[op.range.key].push_back(i);
    }
  }
  for (const auto& [key, operations] : users) {
    if (operations.size() < 2) continue;
    for (const std::size_t i : operations) batch.shared_parent[i] = true;
  }
  for (const auto& operation : batch.operations) {
    for (const auto& op : operation->mutation.merged_puts) {
      const auto [found, first] = place.try_emplace(op.range.key, batch.merged_puts.size());
      if (first) {
        batch.merged_puts.push_back(op);
      } else {
        batch.merged_puts[found->second].value = op.value;
      }
    }
  }
}

bool is_read_back(const SessionOptions& options, const Compare& compare) {
  return compare.range.end.empty() && contains(options.watched, compare.range.key);
}

// A key may be compared twice (version and value); it is read once.
std::vector<Op> failure_reads(const SessionOptions& options, const std::vector<Compare>& compares) {
  std::vector<Op> reads;
  for (const auto& compare : compares) {
    if (!is_read_back(options, compare)) continue;
    const auto same = [&](const Op& op) { return op.range.key == compare.range.key; };
    if (std::any_of(reads.begin(), reads.end(), same)) continue;
    reads.push_back(get(compare.range.key));
  }
  return reads;
}

Txn nested_txn(const SessionOptions& options, Mutation& mutation, std::string slot_operation) {
  Txn txn;
  txn.failure = failure_reads(options, mutation.compares);
  txn.compares = std::move(mutation.compares);
  txn.success = std::move(mutation.writes);
  txn.success.push_back(put(std::move(slot_operation), {}));
  return txn;
}

void collect_watched_puts(const SessionOptions& options, const std::vector<Op>& ops,
                          std::vector<std::string>& keys) {
  for (const auto& op : ops) {
    if (op.kind == Op::Kind::kPut && contains(options.watched, op.range.key)) {
      keys.push_back(op.range.key);
    }
  }
}

}  // namespace

Batch build_batch(const SessionOptions& options, const Frame& frame, SlotUse use,
                  Operations operations, std::int64_t stamp_ns) {
  CHECK(use.operations == operations.size());
  CHECK(use.expected != Revision(0), "an abort needs a slot that exists");
  Batch batch;
  batch.use = std::move(use);
  batch.operations = std::move(operations);
  batch.stamp_ns = stamp_ns;
  batch.shared_parent.assign(batch.operations.size(), false);
  merge_puts(batch);

  Txn& txn = batch.txn;
  txn.compares = frame.compares();
  txn.compares.push_back(mod_revision_is(batch.use.key, batch.use.expected));
  txn.failure = frame.reads(batch.use.key);
  txn.success.reserve(2 + batch.merged_puts.size() + batch.operations.size());
  txn.success.push_back(put(batch.use.key, encode_slot(batch.use.sequence, batch.use.operations)));
  const bool stamped = std::any_of(batch.operations.begin(), batch.operations.end(),
                                   [](const auto& op) { return op->touches_watched; });
  if (stamped) {
    std::string value;
    append_be64(value, static_cast<std::uint64_t>(stamp_ns));
    txn.success.push_back(put(options.stamp_key, std::move(value)));
  }
  collect_watched_puts(options, batch.merged_puts, batch.watched_puts);
  txn.success.insert(txn.success.end(), batch.merged_puts.begin(), batch.merged_puts.end());
  for (std::size_t i = 0; i < batch.operations.size(); ++i) {
    Mutation& mutation = batch.operations[i]->mutation;
    collect_watched_puts(options, mutation.writes, batch.watched_puts);
    Op op = nested(
        nested_txn(options, mutation, slot_operation_key(batch.use.key, static_cast<int>(i))));
    batch.nested.push_back(op.txn);
    txn.success.push_back(std::move(op));
  }
  return batch;
}

Operations take_back(Batch& batch) {
  for (std::size_t i = 0; i < batch.operations.size(); ++i) {
    // A copy: the store may still hold the transaction.
    Mutation& mutation = batch.operations[i]->mutation;
    mutation.compares = batch.nested[i]->compares;
    mutation.writes = batch.nested[i]->success;
    mutation.writes.pop_back();  // the slot operation key
  }
  return std::move(batch.operations);
}

std::vector<ReadBack> read_back(const Batch& batch, std::size_t operation,
                                const TxnResult& answer) {
  const std::size_t first_nested = answer.results.size() - batch.operations.size();
  const auto& result = answer.results[first_nested + operation].txn;
  CHECK(result && !result->succeeded, "only a failed operation reads back");
  const auto& reads = batch.nested[operation]->failure;
  std::vector<ReadBack> records;
  if (result->results.size() != reads.size()) return records;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const auto& kvs = result->results[i].kvs;
    records.push_back({reads[i].range.key, kvs.empty() ? nullptr : &kvs.front()});
  }
  return records;
}

}  // namespace symnas::kv
