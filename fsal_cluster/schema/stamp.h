// The filesystem's stamp (keys.md, `wS`) for the few transactions that run outside a session:
// format, claim and end of a mount. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace symnas::fs {

// Filesystem time in ns since 1970.
inline std::string encode_stamp(std::int64_t time_ns) {
  std::string out;
  append_be64(out, static_cast<std::uint64_t>(time_ns));
  return out;
}

}  // namespace symnas::fs
