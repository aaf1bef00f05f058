#include "vnfsd/names/byte_size.h"

#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace symnas::vnfsd {
namespace {
constexpr std::string_view kUnits = "KMGT";
}  // namespace

Result<std::uint64_t> parse_byte_size(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("size '{}': {} (write it as 256K, 1M or 2G)", text, why));
  };
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error == std::errc::result_out_of_range) return refuse("too large");
  if (error != std::errc{}) return refuse("not a number");
  if (end == last) return value;
  const std::size_t unit = kUnits.find(*end);
  if (unit == std::string_view::npos || end + 1 != last) return refuse("unknown unit");
  const unsigned shift = 10 * (static_cast<unsigned>(unit) + 1);
  if (value > std::numeric_limits<std::uint64_t>::max() >> shift) return refuse("too large");
  return value << shift;
}

std::string format_byte_size(std::uint64_t bytes) {
  std::size_t unit = 0;
  while (bytes != 0 && unit < kUnits.size() && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::to_string(bytes) : fmt::format("{}{}", bytes, kUnits[unit - 1]);
}

std::string approximate_byte_size(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::to_string(bytes);
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const int digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, digits, kUnits[unit - 1]);
}

}  // namespace symnas::vnfsd
