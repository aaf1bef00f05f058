#include "common/kv/operation.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/kv/limits.h"

namespace symnas::kv {

namespace {

// Protobuf framing of one compare or write, approximately.
constexpr std::int64_t kOpOverheadBytes = 32;
// A nested list also carries its slot key; the outer list holds frame, merged puts and nested
// transactions.
constexpr std::size_t kNestedOpsMax = kTxnOpsMax - kBatchOperationsMax - kBatchFrameOps;

Status refuse(std::string_view key, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument,
              "mutation: key 0x" + to_hex(key) + ": " + std::string(why));
}

Status check_targets(const Mutation& mutation, const SessionOptions& options) {
  const KeyRange slots = prefix_range(options.slot_prefix);
  for (const auto& compare : mutation.compares) {
    if (compare.range.key.empty()) return refuse({}, "a compare needs a key");
  }
  const auto check_one = [&](const Op& op) -> Status {
    if (op.range.key.empty()) return refuse({}, "a write needs a key");
    if (contains(op.range, options.stamp_key)) {
      return refuse(op.range.key, "the stamp belongs to the session");
    }
    if (overlap(op.range, slots)) return refuse(op.range.key, "slots belong to the session");
    return {};
  };
  for (const auto& op : mutation.writes) {
    if (op.kind != Op::Kind::kPut && op.kind != Op::Kind::kDelete) {
      return refuse(op.range.key, "only puts and deletes are writes");
    }
    SYMNAS_TRY(check_one(op));
  }
  for (const auto& op : mutation.merged_puts) {
    if (op.kind != Op::Kind::kPut) return refuse(op.range.key, "only a put can be merged");
    SYMNAS_TRY(check_one(op));
  }
  return {};
}

// One duplicate makes etcd refuse the whole batch: it must not get into a batch.
Status check_duplicates(const Mutation& mutation) {
  std::vector<std::string_view> puts;
  std::vector<const KeyRange*> deletes;
  for (const auto& op : mutation.writes) {
    if (op.kind == Op::Kind::kPut) {
      puts.push_back(op.range.key);
    } else {
      deletes.push_back(&op.range);
    }
  }
  for (const auto& op : mutation.merged_puts) puts.push_back(op.range.key);
  std::sort(puts.begin(), puts.end());
  if (const auto twice = std::adjacent_find(puts.begin(), puts.end()); twice != puts.end()) {
    return refuse(*twice, "put twice");
  }
  for (const KeyRange* range : deletes) {
    for (const auto& key : puts) {
      if (contains(*range, key)) return refuse(key, "put and deleted");
    }
  }
  return {};
}

std::int64_t bytes_of(const Mutation& mutation) {
  std::int64_t bytes = 0;
  for (const auto& compare : mutation.compares) {
    // A single key may be read back in the failure branch: its key travels twice.
    bytes += static_cast<std::int64_t>(2 * compare.range.key.size() + compare.range.end.size() +
                                       compare.value.size()) +
             2 * kOpOverheadBytes;
  }
  const auto add = [&bytes](const Op& op) {
    bytes +=
        static_cast<std::int64_t>(op.range.key.size() + op.range.end.size() + op.value.size()) +
        kOpOverheadBytes;
  };
  for (const auto& op : mutation.writes) add(op);
  for (const auto& op : mutation.merged_puts) add(op);
  return bytes;
}

Status check_size(const Mutation& mutation, std::int64_t bytes) {
  if (bytes > kTxnBytesMax - kBatchFrameBytes) {
    return fail(ErrorCode::kTooLarge,
                "mutation: " + std::to_string(bytes) + " bytes do not fit into one transaction");
  }
  const std::size_t ops =
      std::max({mutation.compares.size(), mutation.writes.size(), mutation.merged_puts.size()});
  if (ops > kNestedOpsMax) {
    return fail(ErrorCode::kTooLarge,
                "mutation: " + std::to_string(ops) + " operations do not fit into one transaction");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Operation>> make_operation(Mutation mutation,
                                                  const SessionOptions& options) {
  SYMNAS_TRY(check_targets(mutation, options));
  SYMNAS_TRY(check_duplicates(mutation));
  const std::int64_t bytes = bytes_of(mutation);
  SYMNAS_TRY(check_size(mutation, bytes));
  auto operation = std::make_unique<Operation>();
  operation->bytes = bytes;
  for (const auto& op : mutation.writes) {
    if (!overlap(op.range, options.watched)) continue;
    operation->touches_watched = true;
    if (!op.range.end.empty()) operation->erases_watched_range = true;
    if (contains(op.range, options.mount_key) || contains(op.range, options.ended_key)) {
      operation->ends_session = true;
    }
  }
  for (const auto& op : mutation.merged_puts) {
    if (contains(options.watched, op.range.key)) operation->touches_watched = true;
  }
  operation->footprint = footprint_of(mutation);
  operation->mutation = std::move(mutation);
  return operation;
}

}  // namespace symnas::kv
