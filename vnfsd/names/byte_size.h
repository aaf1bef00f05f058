// Sizes as administrators write them: 512, 256K, 1M, 2G, 4T (powers of 1024). Thread-safe: pure
// functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace symnas::vnfsd {

// Digits and at most one of K M G T, nothing else. Errors: kInvalidArgument (also when it overflows
// 64 bits).
Result<std::uint64_t> parse_byte_size(std::string_view text);

// The largest unit that divides the value exactly ("256K"); for tables, `approximately` three
// digits ("1.50G").
std::string format_byte_size(std::uint64_t bytes);
std::string approximate_byte_size(std::uint64_t bytes);

}  // namespace symnas::vnfsd
