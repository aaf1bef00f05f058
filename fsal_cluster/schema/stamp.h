// The filesystem's stamp (keys.md, `wS`) for the few transactions that run outside a session:
// format, claim and end of a mount. Thread-safe: pure functions.
//
// Sessions of living mounts advance the stamp while such a transaction is under way, many times a
// second. A compare of the stamp's revision would therefore fail again and again. The transaction
// compares that the stamp's time is below the one it puts: so the stamp never goes back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/kv/keys.h"
#include "common/kv/store.h"

namespace symnas::fs {

// Filesystem time in ns since 1970.
inline std::string encode_stamp(std::int64_t time_ns) {
  std::string out;
  append_be64(out, static_cast<std::uint64_t>(time_ns));
  return out;
}

struct StampAdvance {
  kv::Compare compare;
  kv::Op put;
};
// `read` is the answer of a read of the stamp's key. `attempt`, from 0: each attempt puts a time
// further ahead, because the one before was too slow.
inline StampAdvance advance_stamp(FsId fs, const kv::OpResult& read, int attempt) {
  constexpr std::int64_t kLeadNs = 65'536;  // what a session adds (FilesystemTime)
  constexpr int kDoublingsMax = 13;         // half a second: longer than any try of a transaction
  const std::string key = kv::keys::stamp(fs);
  std::int64_t time_ns = 0;
  if (!read.kvs.empty() && read.kvs.front().value.size() == sizeof(time_ns))
    time_ns = static_cast<std::int64_t>(read_be64(read.kvs.front().value, 0));
  const std::string next =
      encode_stamp(time_ns + (kLeadNs << (attempt < kDoublingsMax ? attempt : kDoublingsMax)));
  if (read.kvs.empty()) return {kv::key_absent(key), kv::put(key, next)};
  kv::Compare below;
  below.range = kv::single_key(key);
  below.target = kv::Compare::Target::kValue;
  below.relation = kv::Compare::Relation::kLess;
  below.value = next;
  return {std::move(below), kv::put(key, next)};
}

}  // namespace symnas::fs
