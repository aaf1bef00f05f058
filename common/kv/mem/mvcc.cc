#include "common/kv/mem/mvcc.h"

#include <algorithm>
#include <compare>
#include <set>
#include <utility>

#include "common/base/check.h"

namespace symnas::kv {

namespace {

bool any_op(const Txn& txn, bool (*matches)(const Op&)) {
  const auto search = [matches](const std::vector<Op>& ops) {
    return std::any_of(ops.begin(), ops.end(), [matches](const Op& op) {
      return op.kind == Op::Kind::kTxn ? any_op(*op.txn, matches) : matches(op);
    });
  };
  return search(txn.success) || search(txn.failure);
}

std::int64_t size_of(const Txn& txn) {
  std::int64_t bytes = kMemOpOverheadBytes;
  for (const Compare& compare : txn.compares) {
    bytes += static_cast<std::int64_t>(compare.range.key.size() + compare.range.end.size() +
                                       compare.value.size()) +
             kMemOpOverheadBytes;
  }
  for (const auto* ops : {&txn.success, &txn.failure}) {
    for (const Op& op : *ops) {
      bytes +=
          static_cast<std::int64_t>(op.range.key.size() + op.range.end.size() + op.value.size()) +
          kMemOpOverheadBytes;
      if (op.kind == Op::Kind::kTxn) bytes += size_of(*op.txn);
    }
  }
  return bytes;
}

Status check_shape(const Txn& txn, std::int64_t ops_max) {
  const auto ops = static_cast<std::int64_t>(
      std::max({txn.compares.size(), txn.success.size(), txn.failure.size()}));
  if (ops > ops_max) return fail(ErrorCode::kTooLarge, "too many operations in one transaction");
  for (const Compare& compare : txn.compares) {
    if (compare.range.key.empty()) return fail(ErrorCode::kInvalidArgument, "compare without key");
  }
  for (const auto* branch : {&txn.success, &txn.failure}) {
    for (const Op& op : *branch) {
      if (op.kind == Op::Kind::kTxn) {
        SYMNAS_TRY(check_shape(*op.txn, ops_max - ops));
      } else if (op.range.key.empty()) {
        return fail(ErrorCode::kInvalidArgument, "operation without key");
      }
    }
  }
  return {};
}

// The keys and ranges that one list of operations may write, in any branch below it.
struct Writes {
  std::set<std::string> puts;
  std::vector<KeyRange> deletes;
  bool deletes_key(const std::string& key) const {
    return std::any_of(deletes.begin(), deletes.end(),
                       [&key](const KeyRange& range) { return contains(range, key); });
  }
};

// etcd's checkIntervals, with its order: a nested put is held against the deletes of its own list
// and of the nested transactions before it, not of those after it.
Result<Writes> check_writes(const std::vector<Op>& ops) {
  const auto duplicate = [](const std::string& key) {
    return fail(ErrorCode::kInvalidArgument, "key written twice in one transaction: " + key);
  };
  Writes all;
  for (const Op& op : ops) {
    if (op.kind == Op::Kind::kDelete) all.deletes.push_back(op.range);
  }
  for (const Op& op : ops) {
    if (op.kind != Op::Kind::kTxn) continue;
    SYMNAS_ASSIGN(Writes then, check_writes(op.txn->success));
    SYMNAS_ASSIGN(Writes otherwise, check_writes(op.txn->failure));
    for (const std::string& key : then.puts) {
      if (all.puts.contains(key) || all.deletes_key(key)) return duplicate(key);
    }
    for (const std::string& key : otherwise.puts) {  // branches exclude each other
      if (all.puts.contains(key) || all.deletes_key(key)) return duplicate(key);
    }
    all.puts.merge(then.puts);
    all.puts.merge(otherwise.puts);
    std::move(then.deletes.begin(), then.deletes.end(), std::back_inserter(all.deletes));
    std::move(otherwise.deletes.begin(), otherwise.deletes.end(), std::back_inserter(all.deletes));
  }
  for (const Op& op : ops) {
    if (op.kind != Op::Kind::kPut) continue;
    if (all.deletes_key(op.range.key)) return duplicate(op.range.key);
    if (!all.puts.insert(op.range.key).second) return duplicate(op.range.key);
  }
  return all;
}

bool related(std::strong_ordering order, Compare::Relation relation) {
  switch (relation) {
    case Compare::Relation::kEqual: return order == 0;
    case Compare::Relation::kGreater: return order > 0;
    case Compare::Relation::kLess: return order < 0;
    case Compare::Relation::kNotEqual: return order != 0;
  }
  CHECK(false, "relation out of its enum");
  return false;
}

bool compare_holds(const Compare& compare, const KeyValue& kv) {
  switch (compare.target) {
    case Compare::Target::kVersion: return related(kv.version <=> compare.number, compare.relation);
    case Compare::Target::kCreateRevision:
      return related(kv.create_revision.value() <=> compare.number, compare.relation);
    case Compare::Target::kModRevision:
      return related(kv.mod_revision.value() <=> compare.number, compare.relation);
    case Compare::Target::kValue: return related(kv.value <=> compare.value, compare.relation);
  }
  CHECK(false, "target out of its enum");
  return false;
}

std::int64_t size_of(const KeyValue& kv) {
  return static_cast<std::int64_t>(kv.key.size() + kv.value.size());
}

bool compares_anything(const Txn& txn) {
  if (!txn.compares.empty()) return true;
  return std::any_of(txn.success.begin(), txn.success.end(), [](const Op& op) {
    return op.kind == Op::Kind::kTxn && compares_anything(*op.txn);
  });
}

// True for an innermost comparing transaction: it has compares, and no transaction nested in its
// success branch has any.
bool is_innermost(const Txn& txn) {
  return !txn.compares.empty() &&
         std::none_of(txn.success.begin(), txn.success.end(), [](const Op& op) {
           return op.kind == Op::Kind::kTxn && compares_anything(*op.txn);
         });
}

}  // namespace

bool is_read_only(const Txn& txn) {
  return !any_op(txn, [](const Op& op) { return op.kind != Op::Kind::kRange; });
}

bool could_put(const Txn& txn) {
  return any_op(txn, [](const Op& op) { return op.kind == Op::Kind::kPut; });
}

Status Mvcc::validate(const Txn& txn) const {
  SYMNAS_TRY(check_shape(txn, limits_.txn_ops_max));
  SYMNAS_TRY(check_writes(txn.success));
  SYMNAS_TRY(check_writes(txn.failure));
  SYMNAS_TRY(check_revisions(txn.success));
  SYMNAS_TRY(check_revisions(txn.failure));
  if (!is_read_only(txn) && size_of(txn) > limits_.request_bytes_max) {
    return fail(ErrorCode::kTooLarge, "transaction has more bytes than one request may");
  }
  return {};
}

Status Mvcc::check_revisions(const std::vector<Op>& ops) const {
  for (const Op& op : ops) {
    if (op.kind == Op::Kind::kTxn) {
      SYMNAS_TRY(check_revisions(op.txn->success));
      SYMNAS_TRY(check_revisions(op.txn->failure));
    }
    if (op.kind != Op::Kind::kRange || op.revision == Revision{}) continue;
    if (op.revision.value() < compacted_)
      return fail(ErrorCode::kCompacted, "required revision has been compacted");
    if (op.revision.value() > revision_)
      return fail(ErrorCode::kOutOfRange, "required revision is a future revision");
  }
  return {};
}

bool Mvcc::holds(const Compare& compare) const {
  bool found = false;
  for (auto it = keys_.lower_bound(compare.range.key);
       it != keys_.end() && contains(compare.range, it->first); ++it) {
    found = true;
    if (!compare_holds(compare, it->second)) return false;
  }
  if (found) return true;
  // An absent key has no value, not an empty one.
  return compare.target != Compare::Target::kValue && compare_holds(compare, KeyValue{});
}

void Mvcc::decide(const Txn& txn, Compares compares, Path& path) const {
  bool holds_all = std::all_of(txn.compares.begin(), txn.compares.end(),
                               [this](const Compare& compare) { return holds(compare); });
  if (compares == Compares::kForceConflict && is_innermost(txn)) holds_all = false;
  path.push_back(holds_all);
  for (const Op& op : holds_all ? txn.success : txn.failure) {
    if (op.kind == Op::Kind::kTxn) decide(*op.txn, compares, path);
  }
}

TxnResult Mvcc::apply(const Txn& txn, Compares compares) {
  Path path;
  decide(txn, compares, path);
  changes_.clear();
  std::size_t step = 0;
  TxnResult result = execute(txn, path, step);
  if (!changes_.empty()) {
    ++revision_;
    last_events_ = changes_;
    history_.emplace(revision_, std::move(changes_));
    changes_ = {};
  }
  result.revision = revision();
  return result;
}

TxnResult Mvcc::execute(const Txn& txn, const Path& path, std::size_t& step) {
  TxnResult result;
  result.succeeded = path.at(step++);
  const std::vector<Op>& ops = result.succeeded ? txn.success : txn.failure;
  result.results.reserve(ops.size());
  for (const Op& op : ops) result.results.push_back(execute_op(op, path, step));
  result.revision = Revision(revision_ + (changes_.empty() ? 0 : 1));
  return result;
}

OpResult Mvcc::execute_op(const Op& op, const Path& path, std::size_t& step) {
  OpResult result;
  switch (op.kind) {
    case Op::Kind::kPut: write(op.range.key, op.value); break;
    case Op::Kind::kDelete: result.count = remove(op.range); break;
    case Op::Kind::kRange: return read(op);
    case Op::Kind::kTxn:
      result.txn = std::make_shared<TxnResult>(execute(*op.txn, path, step));
      break;
  }
  result.kind = op.kind;
  return result;
}

std::map<std::string, KeyValue, std::less<>> Mvcc::keys_at(const KeyRange& range,
                                                           Revision revision) const {
  std::map<std::string, KeyValue, std::less<>> out;
  for (auto it = keys_.lower_bound(range.key); it != keys_.end() && contains(range, it->first);
       ++it) {
    out.insert(out.end(), *it);
  }
  for (auto it = replaced_.rbegin(); it != replaced_.rend() && it->first > revision.value(); ++it) {
    for (auto before = it->second.rbegin(); before != it->second.rend(); ++before) {
      if (!contains(range, before->key)) continue;
      if (before->version == 0) {
        out.erase(before->key);
      } else {
        out.insert_or_assign(before->key, *before);
      }
    }
  }
  return out;
}

OpResult Mvcc::read(const Op& op) const {
  OpResult result;
  std::map<std::string, KeyValue, std::less<>> old;
  const bool now =
      op.revision == Revision{} || (op.revision.value() == revision_ && changes_.empty());
  if (!now) old = keys_at(op.range, op.revision);
  const auto& keys = now ? keys_ : old;
  for (auto it = keys.lower_bound(op.range.key); it != keys.end() && contains(op.range, it->first);
       ++it) {
    ++result.count;
    if (op.count_only) continue;
    if (op.limit > 0 && static_cast<std::int64_t>(result.kvs.size()) == op.limit) {
      result.more = true;
      continue;
    }
    result.kvs.push_back(it->second);
    if (op.keys_only) result.kvs.back().value.clear();
  }
  return result;
}

void Mvcc::write(const std::string& key, const std::string& value) {
  KeyValue& kv = keys_[key];
  remember(key, kv);
  if (kv.version == 0) {
    kv.key = key;
    kv.create_revision = Revision(revision_ + 1);
  } else {
    bytes_ -= size_of(kv);
  }
  kv.value = value;
  kv.mod_revision = Revision(revision_ + 1);
  ++kv.version;
  bytes_ += size_of(kv);
  changes_.push_back(WatchEvent{.deleted = false, .kv = kv});
}

void Mvcc::remember(const std::string& key, const KeyValue& before) {
  KeyValue& entry = replaced_[revision_ + 1].emplace_back(before);
  entry.key = key;
}

std::int64_t Mvcc::remove(const KeyRange& range) {
  std::int64_t count = 0;
  auto it = keys_.lower_bound(range.key);
  while (it != keys_.end() && contains(range, it->first)) {
    bytes_ -= size_of(it->second);
    WatchEvent event{.deleted = true};
    event.kv.key = it->first;
    event.kv.mod_revision = Revision(revision_ + 1);
    changes_.push_back(std::move(event));
    remember(it->first, it->second);
    it = keys_.erase(it);
    ++count;
  }
  return count;
}

Status Mvcc::compact(Revision revision) {
  if (revision.value() <= compacted_) {
    return fail(ErrorCode::kCompacted, "history before this revision is gone already");
  }
  if (revision.value() > revision_) {
    return fail(ErrorCode::kOutOfRange, "compaction beyond the current revision");
  }
  compacted_ = revision.value();
  history_.erase(history_.begin(), history_.lower_bound(compacted_));
  replaced_.erase(replaced_.begin(), replaced_.lower_bound(compacted_));
  return {};
}

std::vector<std::vector<WatchEvent>> Mvcc::history(const KeyRange& range, Revision first) const {
  CHECK(first.value() >= compacted_, "history before the compaction is gone");
  std::vector<std::vector<WatchEvent>> out;
  for (auto it = history_.lower_bound(first.value()); it != history_.end(); ++it) {
    std::vector<WatchEvent> events;
    std::copy_if(it->second.begin(), it->second.end(), std::back_inserter(events),
                 [&range](const WatchEvent& event) { return contains(range, event.kv.key); });
    if (!events.empty()) out.push_back(std::move(events));
  }
  return out;
}

}  // namespace symnas::kv
