// Counters of the store: decimal text of the next free value; an absent key counts as the first
// value. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/kv/store.h"

namespace symnas::fs {

struct Counter {
  std::uint64_t next = 1;
  Revision mod_revision;  // 0 = the key does not exist
};

// `read` is the answer of get(key). Errors: kCorrupt (not a decimal number).
Result<Counter> parse_counter(const std::string& key, const kv::OpResult& read,
                              std::uint64_t first = 1);
// The compare and the put that take `count` values, [next, next + count).
kv::Compare counter_unchanged(const std::string& key, const Counter& counter);
kv::Op counter_advanced(const std::string& key, const Counter& counter, std::uint64_t count);

}  // namespace symnas::fs
