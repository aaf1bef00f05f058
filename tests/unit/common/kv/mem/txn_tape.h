// TxnTape: turns arbitrary bytes into transactions over a few keys, so that rapidcheck can shrink
// them and a seed can repeat them. After its end a tape reads as zeros. Also renders results as
// text, to compare stores.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/kv/store.h"

namespace symnas::kv::testing {

class TxnTape {
 public:
  explicit TxnTape(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}

  bool exhausted() const { return at_ >= bytes_.size(); }

  // Draws revisions to compare with near `newest`.
  Txn txn(std::int64_t newest, int depth = 0) {
    Txn out;
    for (unsigned i = draw(6) / 3; i > 0; --i) out.compares.push_back(compare(newest));
    for (unsigned i = 1 + draw(3); i > 0; --i) out.success.push_back(op(newest, depth));
    for (unsigned i = draw(3); i > 0; --i) out.failure.push_back(op(newest, depth));
    return out;
  }

 private:
  unsigned draw(unsigned bound) {
    const unsigned byte = exhausted() ? 0 : bytes_[at_];
    ++at_;
    return byte % bound;
  }
  std::string key() { return std::string(1, static_cast<char>('a' + draw(12))); }
  std::string value() { return std::string(draw(3), static_cast<char>('x' + draw(2))); }

  KeyRange range() {
    std::string first = key();
    std::string second = key();
    if (second < first) std::swap(first, second);
    if (first == second) return single_key(first);
    return KeyRange{first, second};
  }

  Compare compare(std::int64_t newest) {
    Compare out;
    out.range = range();
    out.target = static_cast<Compare::Target>(draw(4));
    out.relation = static_cast<Compare::Relation>(draw(4));
    switch (out.target) {
      case Compare::Target::kVersion: out.number = draw(4); break;
      case Compare::Target::kCreateRevision:
      case Compare::Target::kModRevision:
        out.number = draw(2) == 0 ? 0 : newest - static_cast<std::int64_t>(draw(5));
        break;
      case Compare::Target::kValue: out.value = value(); break;
    }
    return out;
  }

  Op op(std::int64_t newest, int depth) {
    switch (draw(depth < 2 ? 8 : 6)) {
      case 0: return get_range(range(), draw(3));
      case 1: {
        Op out = draw(2) == 0 ? get_range(KeyRange{key(), std::string(1, '\0')}) : get(key());
        out.count_only = draw(3) == 0;
        out.keys_only = draw(3) == 0;
        return out;
      }
      case 2:
      case 3:
      case 4: return put(key(), value());
      case 5: return draw(2) == 0 ? erase_range(range()) : erase(key());
      default: return nested(txn(newest, depth + 1));
    }
  }

  std::vector<std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

inline std::string text_of(const KeyValue& kv) {
  return kv.key + "=" + kv.value + "(" + std::to_string(kv.create_revision.value()) + "," +
         std::to_string(kv.mod_revision.value()) + "," + std::to_string(kv.version) + ")";
}

// The revision of nested answers is left out: etcd does not define it.
inline std::string text_of(const TxnResult& result) {
  std::string out = result.succeeded ? "then[" : "else[";
  for (const OpResult& op : result.results) {
    out += std::to_string(static_cast<int>(op.kind)) + ":" + std::to_string(op.count) +
           (op.more ? "+" : "");
    for (const KeyValue& kv : op.kvs) out += " " + text_of(kv);
    if (op.txn != nullptr) out += text_of(*op.txn);
    out += ";";
  }
  return out + "]";
}

inline std::string text_of(const Result<TxnResult>& result) {
  if (!result) return std::string(to_string(result.error().code));
  return std::to_string(result->revision.value()) + " " + text_of(*result);
}

inline std::string text_of(const WatchEvent& event) {
  if (!event.deleted) return "+" + text_of(event.kv);
  return "-" + event.kv.key + "@" + std::to_string(event.kv.mod_revision.value());
}

}  // namespace symnas::kv::testing
