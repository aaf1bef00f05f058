#include "common/base/bytes.h"

#include <array>

#include "common/base/check.h"

namespace symnas {
namespace {

template <class T>
void append_be(std::string& out, T value) {
  for (int shift = (static_cast<int>(sizeof(T)) - 1) * 8; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>((value >> shift) & 0xff));
}

template <class T>
T read_be(std::string_view in, std::size_t offset) {
  CHECK(offset + sizeof(T) <= in.size());
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value << 8) | static_cast<unsigned char>(in[offset + i]);
  return value;
}

template <class T>
void store_le(std::span<std::byte> out, std::size_t offset, T value) {
  CHECK(offset + sizeof(T) <= out.size());
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out[offset + i] = static_cast<std::byte>((value >> (8 * i)) & 0xff);
}

template <class T>
T load_le(std::span<const std::byte> in, std::size_t offset) {
  CHECK(offset + sizeof(T) <= in.size());
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<T>(std::to_integer<T>(in[offset + i]) << (8 * i));
  return value;
}

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = (c & 1) ? (c >> 1) ^ 0x82f63b78u : c >> 1;
    table[i] = c;
  }
  return table;
}
constexpr auto kCrcTable = make_crc_table();

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void append_be32(std::string& out, std::uint32_t value) { append_be(out, value); }
void append_be64(std::string& out, std::uint64_t value) { append_be(out, value); }
std::uint32_t read_be32(std::string_view in, std::size_t offset) {
  return read_be<std::uint32_t>(in, offset);
}
std::uint64_t read_be64(std::string_view in, std::size_t offset) {
  return read_be<std::uint64_t>(in, offset);
}
void store_le32(std::span<std::byte> out, std::size_t offset, std::uint32_t value) {
  store_le(out, offset, value);
}
void store_le64(std::span<std::byte> out, std::size_t offset, std::uint64_t value) {
  store_le(out, offset, value);
}
std::uint32_t load_le32(std::span<const std::byte> in, std::size_t offset) {
  return load_le<std::uint32_t>(in, offset);
}
std::uint64_t load_le64(std::span<const std::byte> in, std::size_t offset) {
  return load_le<std::uint64_t>(in, offset);
}

std::uint32_t crc32c(std::span<const std::byte> data) {
  std::uint32_t crc = 0xffffffffu;
  for (const std::byte b : data)
    crc = (crc >> 8) ^ kCrcTable[(crc ^ std::to_integer<std::uint32_t>(b)) & 0xff];
  return crc ^ 0xffffffffu;
}

std::uint32_t crc32c(std::string_view data) {
  return crc32c(std::as_bytes(std::span<const char>(data.data(), data.size())));
}

std::string to_hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto b = static_cast<unsigned char>(c);
    out.push_back(kDigits[b >> 4]);
    out.push_back(kDigits[b & 15]);
  }
  return out;
}

Result<std::string> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0)
    return fail(ErrorCode::kInvalidArgument, "hex text has an odd number of digits");
  std::string out;
  out.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = hex_digit(hex[i]);
    const int low = hex_digit(hex[i + 1]);
    if (high < 0 || low < 0)
      return fail(ErrorCode::kInvalidArgument, "hex text holds a character that is no hex digit");
    out.push_back(static_cast<char>(high * 16 + low));
  }
  return out;
}

}  // namespace symnas
