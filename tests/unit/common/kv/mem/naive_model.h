// NaiveModel: the semantics of Mvcc in the simplest way: a list of everything that ever happened,
// and each question is answered by walking the list. For comparison only.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/kv/store.h"

namespace symnas::kv::testing {

class NaiveModel {
 public:
  struct Happening {
    std::int64_t revision = 0;
    std::string key;
    std::optional<std::string> value;  // nullopt: deleted
  };

  Result<TxnResult> txn(const Txn& txn) {
    if (!well_formed(txn.success) || !well_formed(txn.failure)) {
      return fail(ErrorCode::kInvalidArgument, "duplicate");
    }
    const std::size_t before = log_.size();  // compares see the log up to here
    TxnResult result = execute(txn, before);
    if (log_.size() > before) ++revision_;
    result.revision = Revision(revision_);
    return result;
  }

  std::int64_t revision() const { return revision_; }

  std::vector<WatchEvent> events_since(std::int64_t revision) const {
    std::vector<WatchEvent> out;
    for (std::size_t i = 0; i < log_.size(); ++i) {
      if (log_[i].revision < revision) continue;
      WatchEvent event{.deleted = !log_[i].value};
      if (event.deleted) {
        event.kv.key = log_[i].key;
        event.kv.mod_revision = Revision(log_[i].revision);
      } else {
        event.kv = *find(log_[i].key, i + 1);
      }
      out.push_back(std::move(event));
    }
    return out;
  }

 private:
  // The state of a key after the first `length` entries.
  std::optional<KeyValue> find(const std::string& key, std::size_t length) const {
    std::optional<KeyValue> out;
    for (std::size_t i = 0; i < length; ++i) {
      const Happening& h = log_[i];
      if (h.key != key) continue;
      if (!h.value) {
        out.reset();
        continue;
      }
      if (!out) out = KeyValue{.key = key, .create_revision = Revision(h.revision)};
      out->value = *h.value;
      out->mod_revision = Revision(h.revision);
      ++out->version;
    }
    return out;
  }

  std::vector<KeyValue> find_range(const KeyRange& range, std::size_t length) const {
    std::set<std::string> keys;
    for (const Happening& h : log_) keys.insert(h.key);
    std::vector<KeyValue> out;
    for (const std::string& key : keys) {
      if (!contains(range, key)) continue;
      if (auto kv = find(key, length)) out.push_back(*kv);
    }
    return out;
  }

  static bool relation_holds(Compare::Relation relation, int sign) {
    switch (relation) {
      case Compare::Relation::kEqual: return sign == 0;
      case Compare::Relation::kGreater: return sign > 0;
      case Compare::Relation::kLess: return sign < 0;
      case Compare::Relation::kNotEqual: return sign != 0;
    }
    return false;
  }
  static int sign_of(std::int64_t a, std::int64_t b) { return a < b ? -1 : a > b ? 1 : 0; }

  bool holds(const Compare& c, std::size_t length) const {
    std::vector<KeyValue> kvs = find_range(c.range, length);
    if (kvs.empty()) {
      if (c.target == Compare::Target::kValue) return false;
      kvs.emplace_back();
    }
    for (const KeyValue& kv : kvs) {
      int sign = 0;
      switch (c.target) {
        case Compare::Target::kVersion: sign = sign_of(kv.version, c.number); break;
        case Compare::Target::kCreateRevision:
          sign = sign_of(kv.create_revision.value(), c.number);
          break;
        case Compare::Target::kModRevision:
          sign = sign_of(kv.mod_revision.value(), c.number);
          break;
        case Compare::Target::kValue: sign = kv.value.compare(c.value); break;
      }
      if (!relation_holds(c.relation, sign)) return false;
    }
    return true;
  }

  TxnResult execute(const Txn& txn, std::size_t before) {
    TxnResult result{.succeeded = true};
    for (const Compare& c : txn.compares) result.succeeded &= holds(c, before);
    for (const Op& op : result.succeeded ? txn.success : txn.failure) {
      OpResult& out = result.results.emplace_back();
      out.kind = op.kind;
      switch (op.kind) {
        case Op::Kind::kPut: log_.push_back({revision_ + 1, op.range.key, op.value}); break;
        case Op::Kind::kDelete:
          for (const KeyValue& kv : find_range(op.range, log_.size())) {
            log_.push_back({revision_ + 1, kv.key, std::nullopt});
            ++out.count;
          }
          break;
        case Op::Kind::kRange: read(op, out); break;
        case Op::Kind::kTxn: out.txn = std::make_shared<TxnResult>(execute(*op.txn, before)); break;
      }
    }
    return result;
  }

  void read(const Op& op, OpResult& out) const {
    std::vector<KeyValue> kvs = find_range(op.range, log_.size());
    out.count = static_cast<std::int64_t>(kvs.size());
    if (op.count_only) return;
    if (op.limit > 0 && out.count > op.limit) {
      out.more = true;
      kvs.resize(static_cast<std::size_t>(op.limit));
    }
    for (KeyValue& kv : kvs) {
      if (op.keys_only) kv.value.clear();
    }
    out.kvs = std::move(kvs);
  }

  // Everything an operation may put or delete, in any branch.
  static void writes_of(const Op& op, std::set<std::string>& puts, std::vector<KeyRange>& deletes) {
    if (op.kind == Op::Kind::kPut) puts.insert(op.range.key);
    if (op.kind == Op::Kind::kDelete) deletes.push_back(op.range);
    if (op.kind != Op::Kind::kTxn) return;
    for (const Op& below : op.txn->success) writes_of(below, puts, deletes);
    for (const Op& below : op.txn->failure) writes_of(below, puts, deletes);
  }

  // etcd's rule, pair by pair: no key put by two operations of a list; no put inside a delete,
  // except a nested put before a nested delete.
  static bool well_formed(const std::vector<Op>& ops) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (ops[i].kind == Op::Kind::kTxn &&
          (!well_formed(ops[i].txn->success) || !well_formed(ops[i].txn->failure))) {
        return false;
      }
      for (std::size_t j = 0; j < ops.size(); ++j) {
        if (i != j && !compatible(ops[i], i, ops[j], j)) return false;
      }
    }
    return true;
  }

  static bool compatible(const Op& deleter, std::size_t i, const Op& putter, std::size_t j) {
    std::set<std::string> puts_i, puts_j;
    std::vector<KeyRange> deletes_i, deletes_j;
    writes_of(deleter, puts_i, deletes_i);
    writes_of(putter, puts_j, deletes_j);
    const bool nested_put_first =
        deleter.kind == Op::Kind::kTxn && putter.kind == Op::Kind::kTxn && j < i;
    for (const std::string& key : puts_j) {
      if (puts_i.contains(key)) return false;
      for (const KeyRange& range : deletes_i) {
        if (contains(range, key) && !nested_put_first) return false;
      }
    }
    return true;
  }

  std::vector<Happening> log_;
  std::int64_t revision_ = 1;
};

}  // namespace symnas::kv::testing
