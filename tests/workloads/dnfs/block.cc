#include "tests/workloads/dnfs/block.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace symnas::dnfs {
namespace {

constexpr std::uint32_t kMagic = 0x42464e44;  // "DNFB"
constexpr std::size_t kChecksumAt = 4;

struct Wire {
  std::uint32_t magic;
  std::uint32_t checksum;
  std::uint64_t file, block, run;
  std::uint32_t generation, seed, bytes, zero;
};
static_assert(sizeof(Wire) == kHeaderBytes);

std::uint32_t checksum(std::span<const char> block) {
  constexpr std::array<unsigned char, 4> kZero{};
  const auto* data = reinterpret_cast<const unsigned char*>(block.data());
  auto crc = ::crc32(0, data, kChecksumAt);
  crc = ::crc32(crc, kZero.data(), kZero.size());
  crc = ::crc32(crc, data + kChecksumAt + kZero.size(),
                static_cast<uInt>(block.size() - kChecksumAt - kZero.size()));
  return static_cast<std::uint32_t>(crc);
}

}  // namespace

std::uint64_t file_id(std::string_view path) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

void fill_block(std::span<char> block, const BlockHeader& header) {
  std::uint64_t word = header.file ^ (header.block << 24) ^ header.run ^
                       (std::uint64_t{header.generation} << 32) ^ header.seed;
  for (std::size_t at = kHeaderBytes; at + 8 <= block.size(); at += 8) {
    word = word * 6364136223846793005ull + 1442695040888963407ull;
    std::memcpy(block.data() + at, &word, 8);
  }
  const Wire wire{kMagic,
                  0,
                  header.file,
                  header.block,
                  header.run,
                  header.generation,
                  header.seed,
                  static_cast<std::uint32_t>(block.size()),
                  0};
  std::memcpy(block.data(), &wire, sizeof wire);
  const std::uint32_t sum = checksum(block);
  std::memcpy(block.data() + kChecksumAt, &sum, sizeof sum);
}

BlockLooks look_at(std::span<const char> block, BlockHeader& header) {
  Wire wire;
  std::memcpy(&wire, block.data(), sizeof wire);
  if (wire.magic == 0 &&
      std::all_of(block.begin(), block.end(), [](char byte) { return byte == 0; }))
    return BlockLooks::kUnwritten;
  if (wire.magic != kMagic || wire.bytes != block.size()) return BlockLooks::kOther;
  if (wire.checksum != checksum(block)) return BlockLooks::kBroken;
  header = {wire.file, wire.block, wire.run, wire.generation, wire.seed};
  return BlockLooks::kWhole;
}

}  // namespace symnas::dnfs
