// Byte-order, hex and CRC32C for keys, handles and labels. Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace symnas {

// Appends an unsigned integer, most significant byte first, so that keys sort like numbers.
void append_be32(std::string& out, std::uint32_t value);
void append_be64(std::string& out, std::uint64_t value);
// Reads an integer at `offset`. REQUIRES: offset + its size <= in.size().
std::uint32_t read_be32(std::string_view in, std::size_t offset);
std::uint64_t read_be64(std::string_view in, std::size_t offset);

// Little-endian integers in on-disk labels. REQUIRES: offset + size <= out.size().
void store_le32(std::span<std::byte> out, std::size_t offset, std::uint32_t value);
void store_le64(std::span<std::byte> out, std::size_t offset, std::uint64_t value);
std::uint32_t load_le32(std::span<const std::byte> in, std::size_t offset);
std::uint64_t load_le64(std::span<const std::byte> in, std::size_t offset);

// CRC32C (Castagnoli, reflected, init and final xor 0xffffffff; RFC 3720 appendix B.4 test
// vectors).
std::uint32_t crc32c(std::span<const std::byte> data);
std::uint32_t crc32c(std::string_view data);

// Lower-case hex. from_hex fails with kInvalidArgument on odd length or a character that is no hex
// digit.
std::string to_hex(std::string_view bytes);
Result<std::string> from_hex(std::string_view hex);

}  // namespace symnas
