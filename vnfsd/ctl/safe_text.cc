#include "vnfsd/ctl/safe_text.h"

#include <clocale>
#include <cstdint>
#include <cwchar>
#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::ctl {
namespace {

struct Character {
  std::optional<char32_t> code;  // none: a byte that is no UTF-8
  std::size_t bytes = 1;
};

// Overlong forms, surrogates and what is above U+10FFFF are no UTF-8 (RFC 3629 4).
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const char32_t least = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes};
}

bool is_control(char32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0);
}

// What turns the direction of text around, and line ends that are none.
bool hides_text(char32_t code) {
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
         (code >= 0x200e && code <= 0x200f) || code == 0x2028 || code == 0x2029 || code == 0x061c;
}

std::size_t columns_of(char32_t code) {
  // A locale of its own: the program's is that of the user, or none.
  static const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const locale_t before = ::uselocale(utf8);
  const int columns = ::wcwidth(static_cast<wchar_t>(code));
  ::uselocale(before);
  return columns < 0 ? 1 : static_cast<std::size_t>(columns);
}

// The length of the colour (table.h) that the text begins with, or 0.
std::size_t colour_at(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find('m');
  return end == std::string_view::npos ? 0 : end + 1;
}

}  // namespace

std::string safe_text(std::string_view text, Charset charset) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character one = first_of(text);
    if (!one.code) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (is_control(*one.code)) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(*one.code));
    } else if (hides_text(*one.code) || (charset == Charset::kAscii && *one.code >= 0x80)) {
      out += fmt::format("\\u{{{:04x}}}", static_cast<std::uint32_t>(*one.code));
    } else {
      out.append(text.substr(0, one.bytes));
    }
    text.remove_prefix(one.bytes);
  }
  return out;
}

nlohmann::json safe_document(const nlohmann::json& document, Charset charset) {
  if (document.is_string()) return safe_text(document.get_ref<const std::string&>(), charset);
  if (document.is_array()) {
    nlohmann::json out = nlohmann::json::array();
    for (const nlohmann::json& one : document) out.push_back(safe_document(one, charset));
    return out;
  }
  if (!document.is_object()) return document;
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [key, value] : document.items())
    out[safe_text(key, charset)] = safe_document(value, charset);
  return out;
}

std::size_t width_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character one = first_of(text);
    columns += one.code ? columns_of(*one.code) : 1;
    text.remove_prefix(one.bytes);
  }
  return columns;
}

std::string cut_to(std::string_view line, std::size_t columns) {
  std::string out;
  std::size_t taken = 0;
  bool coloured = false;
  while (!line.empty()) {
    if (const std::size_t colour = colour_at(line); colour != 0) {
      coloured = line.substr(0, colour) != "\x1b[0m";
      out.append(line.substr(0, colour));
      line.remove_prefix(colour);
      continue;
    }
    const Character one = first_of(line);
    taken += one.code ? columns_of(*one.code) : 1;
    if (taken > columns) break;
    out.append(line.substr(0, one.bytes));
    line.remove_prefix(one.bytes);
  }
  return coloured ? out + "\x1b[0m" : out;
}

}  // namespace symnas::vnfsd::ctl
