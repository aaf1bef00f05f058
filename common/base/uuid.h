// Uuid: 16 random bytes (RFC 4122 version 4), text form 8-4-4-4-12. Thread class: value type.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace symnas {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};
  friend auto operator<=>(const Uuid&, const Uuid&) = default;

  // A new one from the kernel's random source.
  static Uuid generate();
  // Errors: kInvalidArgument when the text is not 8-4-4-4-12 hex.
  static Result<Uuid> parse(std::string_view text);
  std::string to_string() const;
  bool is_nil() const { return *this == Uuid{}; }
};

}  // namespace symnas
