#include "ha/reservation/key.h"

#include <charconv>

#include <fmt/core.h>

#include "ha/reservation/limits.h"

namespace symnas::ha {
namespace {

constexpr std::uint64_t kTag = 0x53;
constexpr int kHashBits = 56;

// FNV-1a, then the finalizer of MurmurHash3: FNV alone mixes its high bits badly.
std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53;
  return h ^ (h >> 33);
}

}  // namespace

ReservationKey key_of(std::string_view incarnation) {
  const std::uint64_t low = hash(incarnation) & ((std::uint64_t{1} << kHashBits) - 1);
  return ReservationKey(kTag << kHashBits | low);
}

std::string render_key(ReservationKey key) { return fmt::format("{:#018x}", key.value()); }

Result<ReservationKey> parse_key(std::string_view text) {
  if (!text.starts_with("0x")) {
    const auto slash = text.find('/');
    if (slash != std::string_view::npos && slash > 0 && slash + 1 < text.size() &&
        text.size() <= kIncarnationCharsMax) {
      return key_of(text);
    }
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is neither HEAD/BOOT-ID nor a key (0x and up to 16 digits)",
                            text.substr(0, 80)));
  }
  std::uint64_t value = 0;
  const std::string_view digits = text.substr(2);
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value, 16);
  if (error != std::errc() || end != digits.end()) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' is no key: 0x and up to 16 hexadecimal digits are", text.substr(0, 80)));
  }
  if (value == 0) {
    return fail(ErrorCode::kInvalidArgument, "0 is no key: it means that there is none");
  }
  return ReservationKey(value);
}

}  // namespace symnas::ha
