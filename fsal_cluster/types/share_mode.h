// ShareMode: what an open may do with a file, and what it denies to other opens meanwhile (share
// reservation, RFC 8881 9.7).
//
// Thread class: value type.
#pragma once

#include <cstdint>

namespace symnas::fs {

inline constexpr std::uint8_t kShareRead = 1;
inline constexpr std::uint8_t kShareWrite = 2;

// Bit of `deny`: what is denied is denied to writers without an open as well (NFSv4; not NLM).
inline constexpr std::uint8_t kShareMandatory = 4;

struct ShareMode {
  std::uint8_t access = 0;  // kShareRead, kShareWrite
  std::uint8_t deny = 0;    // the same, kShareMandatory
  friend bool operator==(const ShareMode&, const ShareMode&) = default;
};

constexpr bool conflict(ShareMode a, ShareMode b) {
  return (a.access & b.deny) != 0 || (a.deny & b.access) != 0;
}
constexpr ShareMode operator|(ShareMode a, ShareMode b) {
  return {static_cast<std::uint8_t>(a.access | b.access),
          static_cast<std::uint8_t>(a.deny | b.deny)};
}
constexpr bool contains(ShareMode whole, ShareMode part) { return (whole | part) == whole; }

}  // namespace symnas::fs
