// Order of names in a directory: a keyed 54-bit hash, and the 64-bit READDIR cookie made of it.
// SipHash-2-4: Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012. Thread-safe: pure
// functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "common/base/result.h"

namespace symnas::fs {

std::uint64_t siphash24(const std::array<std::uint8_t, 16>& key, std::string_view data);

// Hashes the names of one filesystem. Value type.
class NameHasher {
 public:
  // Errors: kCorrupt unless `key` (FilesystemRecord.name_hash_key) has 16 bytes.
  static Result<NameHasher> create(std::string_view key);
  // In [1, 2^54).
  std::uint64_t hash(std::string_view name) const;

 private:
  std::array<std::uint8_t, 16> key_{};
};

inline constexpr std::uint64_t kNameHashEnd = std::uint64_t{1} << 54;

// A directory entry's place in READDIR: hash << 8 | slot, in [256, 2^62).
struct Cookie {
  std::uint64_t hash = 0;
  std::uint32_t slot = 0;
  std::uint64_t value() const { return hash << 8 | slot; }
};
// The hash and slot of a cookie. REQUIRES: not 0 (the start of a directory). Errors: kBadCookie for
// values that no entry can have.
Result<Cookie> parse_cookie(std::uint64_t value);

}  // namespace symnas::fs
