// What a block holds, so that whoever reads it can say whether it is what was written: a header of
// 48 bytes, little-endian, then bytes of a sequence that its fields begin.
//
//   0 magic u32 "DNFB" | 4 checksum u32 (CRC-32 of the block, this field 0) | 8 file u64
//   16 block u64 | 24 run u64 | 32 generation u32 | 36 seed u32 | 40 bytes u32 | 44 zero u32
//
// Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace symnas::dnfs {

inline constexpr std::size_t kHeaderBytes = 48;

struct BlockHeader {
  std::uint64_t file = 0;        // file_id() of the path
  std::uint64_t block = 0;       // offset / bytes
  std::uint64_t run = 0;         // of the process that wrote it, or of its state file
  std::uint32_t generation = 0;  // counts the writes of this block from 1
  std::uint32_t seed = 0;
};

enum class BlockLooks {
  kWhole,
  kUnwritten,  // only zeroes
  kBroken,     // the checksum is wrong: a part of it is of another write
  kOther,      // no header of a block of this size
};

std::uint64_t file_id(std::string_view path);

// REQUIRES: block.size() >= kHeaderBytes and a multiple of 8.
void fill_block(std::span<char> block, const BlockHeader& header);

// `header` is set if the block is whole.
BlockLooks look_at(std::span<const char> block, BlockHeader& header);

}  // namespace symnas::dnfs
