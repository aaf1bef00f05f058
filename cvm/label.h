// LunLabel: the 4 KiB block at both ends of a LUN that says to whom the LUN belongs. Pure encoding;
// label_io.h reads and writes it.
//
// Thread class: value type. Format: docs/formats/lun_label.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/base/result.h"
#include "common/base/uuid.h"
#include "cvm/limits.h"

namespace symnas::cvm {

inline constexpr std::uint32_t kLabelFormatVersion = 1;

struct LunLabel {
  std::uint64_t generation = 1;  // grows with every change of the label; the newer copy is used
  Uuid cluster;
  Uuid lun;
  Uuid volume;                            // nil: no volume uses the LUN
  std::uint64_t size_bytes = 0;           // of the LUN, multiple of 4096; the second copy ends here
  std::uint32_t logical_block_bytes = 0;  // 512 or 4096
  std::string name;                       // 1 .. kNameBytesMax bytes
  friend bool operator==(const LunLabel&, const LunLabel&) = default;
};

using LabelBlock = std::array<std::byte, kLabelBytes>;

// REQUIRES: the name fits; size and block size are as LunLabel demands.
LabelBlock encode_label(const LunLabel& label);

// Errors: kNotFound (no magic: not a label), kCorrupt (magic, but the checksum or a field is
// wrong), kNotSupported (a newer format version: upgrade this head).
Result<LunLabel> decode_label(std::span<const std::byte, kLabelBytes> block);

// Offset of the second copy on a LUN of `size_bytes` (need not be a multiple of 4096).
// REQUIRES: size_bytes >= kLabelBytes.
constexpr std::uint64_t second_label_offset(std::uint64_t size_bytes) {
  return size_bytes / kLabelBytes * kLabelBytes - kLabelBytes;
}

// Errors: kInvalidArgument unless 1 .. kNameBytesMax letters, digits, '-', '_' or '.', the first
// one a letter or digit. `what` begins the message ("lun", "volume").
Status check_name(std::string_view what, std::string_view name);

}  // namespace symnas::cvm
