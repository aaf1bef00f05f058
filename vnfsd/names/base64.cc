#include "vnfsd/names/base64.h"

#include <cstdint>

namespace symnas::vnfsd {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t word = 0;
    for (std::size_t i = at; i < at + 3; ++i)
      word = word << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += at + i > bytes.size() ? '=' : kDigits[word >> (18 - 6 * i) & 0x3f];
  }
  return text;
}

Result<std::string> from_base64(std::string_view text) {
  const auto bad = [] { return fail(ErrorCode::kInvalidArgument, "it is not base64"); };
  if (text.size() % 4 != 0) return bad();
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += 4) {
    std::uint32_t word = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
      const bool pad = i >= text.size() - padding;
      const std::size_t digit = pad ? 0 : kDigits.find(text[i]);
      if (digit == std::string_view::npos) return bad();
      word = word << 6 | static_cast<std::uint32_t>(digit);
    }
    for (int shift = 16; shift >= 0; shift -= 8) bytes += static_cast<char>(word >> shift & 0xff);
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace symnas::vnfsd
