#include "common/kv/store.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <string_view>
#include <thread>
#include <utility>

#include "common/kv/limits.h"

namespace symnas::kv {

KeyRange single_key(std::string key) { return KeyRange{std::move(key), {}}; }

KeyRange prefix_range(std::string prefix) {
  std::string end = prefix;
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (end.empty()) return KeyRange{std::move(prefix), std::string(1, '\0')};
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return KeyRange{std::move(prefix), std::move(end)};
}

namespace {

// etcd's convention: end "\0" means "to the last key".
bool unbounded(const KeyRange& range) { return range.end.size() == 1 && range.end[0] == '\0'; }

bool below_end(std::string_view key, const KeyRange& range) {
  if (range.end.empty()) return key == range.key;
  return unbounded(range) || key < range.end;
}

Compare number_compare(std::string key, Compare::Target target, Compare::Relation relation,
                       std::int64_t number) {
  Compare compare;
  compare.range = single_key(std::move(key));
  compare.target = target;
  compare.relation = relation;
  compare.number = number;
  return compare;
}

}  // namespace

bool contains(const KeyRange& range, std::string_view key) {
  return key >= range.key && below_end(key, range);
}

bool overlap(const KeyRange& a, const KeyRange& b) {
  return contains(a, b.key) || contains(b, a.key);
}

Compare key_absent(std::string key) {
  return number_compare(std::move(key), Compare::Target::kVersion, Compare::Relation::kEqual, 0);
}
Compare range_absent(KeyRange range) {
  Compare compare;
  compare.range = std::move(range);
  return compare;
}
Compare key_exists(std::string key) {
  return number_compare(std::move(key), Compare::Target::kVersion, Compare::Relation::kGreater, 0);
}
Compare mod_revision_is(std::string key, Revision revision) {
  return number_compare(std::move(key), Compare::Target::kModRevision, Compare::Relation::kEqual,
                        revision.value());
}
Compare create_revision_is(std::string key, Revision revision) {
  return number_compare(std::move(key), Compare::Target::kCreateRevision, Compare::Relation::kEqual,
                        revision.value());
}
Compare value_is(std::string key, std::string value) {
  Compare compare;
  compare.range = single_key(std::move(key));
  compare.target = Compare::Target::kValue;
  compare.value = std::move(value);
  return compare;
}

Op put(std::string key, std::string value) {
  Op op;
  op.kind = Op::Kind::kPut;
  op.range = single_key(std::move(key));
  op.value = std::move(value);
  return op;
}
Op erase(std::string key) { return erase_range(single_key(std::move(key))); }
Op erase_range(KeyRange range) {
  Op op;
  op.kind = Op::Kind::kDelete;
  op.range = std::move(range);
  return op;
}
Op get(std::string key) { return get_range(single_key(std::move(key))); }
Op get_range(KeyRange range, std::int64_t limit) {
  Op op;
  op.range = std::move(range);
  op.limit = limit;
  return op;
}
Op nested(Txn txn) {
  Op op;
  op.kind = Op::Kind::kTxn;
  op.txn = std::make_shared<Txn>(std::move(txn));
  return op;
}

Result<TxnResult> txn_blocking(Store& store, Txn txn, std::int64_t deadline_ms) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(deadline_ms);
  for (;;) {
    auto promise = std::make_shared<std::promise<Result<TxnResult>>>();
    auto future = promise->get_future();
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    TryOptions options;
    options.timeout_ms = std::clamp<std::int64_t>(left, 1, kTryTimeoutMs);
    store.txn(txn, options, [promise](Result<TxnResult> r) { promise->set_value(std::move(r)); });
    auto result = future.get();
    if (result || result.error().code != ErrorCode::kUnavailable) return result;
    if (Clock::now() + std::chrono::milliseconds(kRetryPauseMs) >= deadline) return result;
    std::this_thread::sleep_for(std::chrono::milliseconds(kRetryPauseMs));
  }
}

bool maybe_executed(const Error& error) {
  return error.code == ErrorCode::kUnknownOutcome || error.code == ErrorCode::kNoSpace;
}

Result<OpResult> range_blocking(Store& store, KeyRange range, std::int64_t limit,
                                std::int64_t deadline_ms) {
  Txn txn;
  txn.success.push_back(get_range(std::move(range), limit));
  SYMNAS_ASSIGN(TxnResult result, txn_blocking(store, std::move(txn), deadline_ms));
  return std::move(result.results.front());
}

}  // namespace symnas::kv
