#include "common/base/uuid.h"

#include <sys/random.h>

#include "common/base/bytes.h"
#include "common/base/check.h"

namespace symnas {

Uuid Uuid::generate() {
  Uuid uuid;
  const auto got = ::getrandom(uuid.bytes.data(), uuid.bytes.size(), 0);
  CHECK(got == static_cast<ssize_t>(uuid.bytes.size()), "getrandom(2) of 16 bytes never fails");
  uuid.bytes[6] = static_cast<std::uint8_t>((uuid.bytes[6] & 0x0f) | 0x40);
  uuid.bytes[8] = static_cast<std::uint8_t>((uuid.bytes[8] & 0x3f) | 0x80);
  return uuid;
}

Result<Uuid> Uuid::parse(std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorCode::kInvalidArgument,
                "'" + std::string(text) + "' is no uuid of the form 8-4-4-4-12 hex digits");
  };
  if (text.size() != 36) return bad();
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (text[i] != '-') return bad();
    } else {
      digits.push_back(text[i]);
    }
  }
  const auto raw = from_hex(digits);
  if (!raw) return bad();
  Uuid uuid;
  for (std::size_t i = 0; i < 16; ++i) uuid.bytes[i] = static_cast<std::uint8_t>((*raw)[i]);
  return uuid;
}

std::string Uuid::to_string() const {
  const std::string hex =
      to_hex(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
         hex.substr(16, 4) + "-" + hex.substr(20);
}

}  // namespace symnas
