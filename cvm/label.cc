#include "cvm/label.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "common/base/check.h"

namespace symnas::cvm {
namespace {

// docs/formats/lun_label.md. All integers little-endian.
constexpr std::string_view kMagic = "symnas.lun.label";
constexpr std::size_t kVersionAt = 16;
constexpr std::size_t kChecksumAt = 20;
constexpr std::size_t kGenerationAt = 24;
constexpr std::size_t kClusterAt = 32;
constexpr std::size_t kLunAt = 48;
constexpr std::size_t kVolumeAt = 64;
constexpr std::size_t kSizeAt = 80;
constexpr std::size_t kBlockSizeAt = 88;
constexpr std::size_t kNameLengthAt = 92;
constexpr std::size_t kNameAt = 96;
constexpr std::size_t kNameFieldBytes = 64;
static_assert(kMagic.size() == kVersionAt);
static_assert(kNameBytesMax < kNameFieldBytes);

void store_uuid(LabelBlock& block, std::size_t at, const Uuid& uuid) {
  std::memcpy(block.data() + at, uuid.bytes.data(), uuid.bytes.size());
}

Uuid load_uuid(std::span<const std::byte> block, std::size_t at) {
  Uuid uuid;
  std::memcpy(uuid.bytes.data(), block.data() + at, uuid.bytes.size());
  return uuid;
}

std::uint32_t checksum(LabelBlock block) {
  store_le32(block, kChecksumAt, 0);
  return crc32c(block);
}

}  // namespace

LabelBlock encode_label(const LunLabel& label) {
  CHECK(!label.name.empty() && label.name.size() <= kNameBytesMax);
  CHECK(label.size_bytes >= kLunBytesMin && label.size_bytes % kLabelBytes == 0);
  CHECK(label.logical_block_bytes == 512 || label.logical_block_bytes == 4096);
  LabelBlock block{};
  std::memcpy(block.data(), kMagic.data(), kMagic.size());
  store_le32(block, kVersionAt, kLabelFormatVersion);
  store_le64(block, kGenerationAt, label.generation);
  store_uuid(block, kClusterAt, label.cluster);
  store_uuid(block, kLunAt, label.lun);
  store_uuid(block, kVolumeAt, label.volume);
  store_le64(block, kSizeAt, label.size_bytes);
  store_le32(block, kBlockSizeAt, label.logical_block_bytes);
  store_le32(block, kNameLengthAt, static_cast<std::uint32_t>(label.name.size()));
  std::memcpy(block.data() + kNameAt, label.name.data(), label.name.size());
  store_le32(block, kChecksumAt, checksum(block));
  return block;
}

Result<LunLabel> decode_label(std::span<const std::byte, kLabelBytes> bytes) {
  LabelBlock block;
  std::copy(bytes.begin(), bytes.end(), block.begin());
  if (std::memcmp(block.data(), kMagic.data(), kMagic.size()) != 0)
    return fail(ErrorCode::kNotFound, "no symnas label");
  if (load_le32(block, kChecksumAt) != checksum(block))
    return fail(ErrorCode::kCorrupt, "symnas label with a wrong checksum");
  const std::uint32_t version = load_le32(block, kVersionAt);
  if (version != kLabelFormatVersion)
    return fail(ErrorCode::kNotSupported,
                fmt::format("symnas label of format version {}, this head knows {}: upgrade it",
                            version, kLabelFormatVersion));
  LunLabel label;
  label.generation = load_le64(block, kGenerationAt);
  label.cluster = load_uuid(block, kClusterAt);
  label.lun = load_uuid(block, kLunAt);
  label.volume = load_uuid(block, kVolumeAt);
  label.size_bytes = load_le64(block, kSizeAt);
  label.logical_block_bytes = load_le32(block, kBlockSizeAt);
  const std::uint32_t name_bytes = load_le32(block, kNameLengthAt);
  const bool plausible = name_bytes >= 1 && name_bytes <= kNameBytesMax && !label.lun.is_nil() &&
                         (label.logical_block_bytes == 512 || label.logical_block_bytes == 4096) &&
                         label.size_bytes >= kLunBytesMin && label.size_bytes % kLabelBytes == 0;
  if (!plausible)
    return fail(ErrorCode::kCorrupt, "symnas label with impossible fields and a right checksum");
  label.name.assign(reinterpret_cast<const char*>(block.data() + kNameAt), name_bytes);
  return label;
}

Status check_name(std::string_view what, std::string_view name) {
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const bool fine = !name.empty() && name.size() <= kNameBytesMax && letter(name[0]) &&
                    std::all_of(name.begin(), name.end(), [&](char c) {
                      return letter(c) || c == '-' || c == '_' || c == '.';
                    });
  if (fine) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} name '{}': use 1 to {} letters, digits, '-', '_' or '.', beginning "
                          "with a letter or digit",
                          what, name, kNameBytesMax));
}

}  // namespace symnas::cvm
