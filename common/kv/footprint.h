// Footprint: which keys an operation compares, writes and merges; Claims: those of all operations
// that are under way. They decide which operations may travel together and which have to wait
// (docs/architecture/kv_session.md, "Who may share a batch").
//
// Thread class: thread-compatible.
// Invariant: two footprints conflict when a key or range that one writes or merges is compared,
// written or merged by the other; only merge with merge of one key is no conflict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/kv/session.h"
#include "common/kv/store.h"

namespace symnas::kv {

enum class KeyUse : std::uint8_t { kCompare, kMerge, kWrite };

struct Footprint {
  struct Point {
    std::string key;
    std::size_t hash = 0;
    KeyUse use = KeyUse::kCompare;
  };
  struct Range {
    KeyRange range;
    KeyUse use = KeyUse::kCompare;  // kCompare or kWrite
  };
  std::vector<Point> points;
  std::vector<Range> ranges;
};

// Cost: one copy of every key. REQUIRES: make_operation() has checked the mutation.
Footprint footprint_of(const Mutation& mutation);
// The footprint of a read of these keys: conflicts with operations that write them.
Footprint footprint_of_read(const std::vector<Op>& gets);

// True when the uses of one key (or of overlapping ranges) by two operations conflict.
constexpr bool uses_conflict(KeyUse a, KeyUse b) {
  if (a == KeyUse::kMerge && b == KeyUse::kMerge) return false;
  return a != KeyUse::kCompare || b != KeyUse::kCompare;
}

// Points are compared by hash: two keys of one hash conflict without need, which costs only a wait.
class Claims {
 public:
  // The footprint must live until remove() of the same object. Cost: O(points).
  void add(const Footprint& footprint);
  void remove(const Footprint& footprint);
  // Cost: O(points), plus O(claimed points) when a range is involved.
  bool conflicts(const Footprint& footprint) const;
  bool empty() const { return claimed_.empty(); }  // for tests

 private:
  struct Uses {
    std::int32_t compares = 0;
    std::int32_t merges = 0;
    std::int32_t writes = 0;
    std::int32_t& of(KeyUse use);
    bool none() const { return compares == 0 && merges == 0 && writes == 0; }
  };
  bool point_conflicts(const Footprint::Point& point) const;
  bool range_conflicts(const Footprint::Range& range) const;

  std::unordered_map<std::size_t, Uses> points_;
  std::vector<const Footprint*> claimed_;
  std::size_t ranged_ = 0;  // claimed footprints that have ranges
};

}  // namespace symnas::kv
