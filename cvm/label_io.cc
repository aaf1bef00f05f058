#include "cvm/label_io.h"

#include <optional>

#include <fmt/core.h>

#include "common/base/check.h"

namespace symnas::cvm {
namespace {

Result<LunLabel> read_copy(const LunDevice& device, std::uint64_t offset) {
  LabelBlock block;
  SYMNAS_TRY(device.read(offset, block));
  return decode_label(block);
}

bool is_damage(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kCorrupt ||
         error.code == ErrorCode::kIo || error.code == ErrorCode::kOutOfRange;
}

Error on_device(const LunDevice& device, ErrorCode code, const std::string& what) {
  return Error{code, fmt::format("lun device {}: {}", device.path(), what)};
}

// The error when neither copy is valid: "never labelled", or "labelled once, cannot be read".
Error nothing_valid(const LunDevice& device, const Error& first, const Error& second) {
  if (first.code == ErrorCode::kNotFound && second.code == ErrorCode::kNotFound)
    return on_device(device, ErrorCode::kNotFound, "no symnas label");
  // After a read error nobody knows what is there.
  const bool unreadable = first.code == ErrorCode::kIo || second.code == ErrorCode::kIo;
  return on_device(device, unreadable ? ErrorCode::kIo : ErrorCode::kCorrupt,
                   fmt::format("no valid label: first copy: {}; second copy: {}", first.message,
                               second.message));
}

}  // namespace

Result<LabelCopies> read_label(const LunDevice& device) {
  if (device.size_bytes() < 2 * kLabelBytes)
    return tl::unexpected(on_device(device, ErrorCode::kNotFound, "too small for a label"));
  const Result<LunLabel> first = read_copy(device, 0);
  if (!first && !is_damage(first.error())) return tl::unexpected(first.error());
  // The device may have grown since it was labelled; a valid first copy says where the second copy
  // is.
  const std::uint64_t labelled_bytes = first ? first->size_bytes : device.size_bytes();
  if (labelled_bytes > device.size_bytes())
    return tl::unexpected(
        on_device(device, ErrorCode::kCorrupt,
                  fmt::format("it has {} bytes, its label says {}: the wrong or a cut-off device",
                              device.size_bytes(), labelled_bytes)));
  const Result<LunLabel> second = read_copy(device, second_label_offset(labelled_bytes));
  if (!second && !is_damage(second.error())) return tl::unexpected(second.error());

  if (!first && !second)
    return tl::unexpected(nothing_valid(device, first.error(), second.error()));
  if (!second) return LabelCopies{.label = *first, .second_needs_repair = true};
  if (!first) return LabelCopies{.label = *second, .first_needs_repair = true};
  if (first->lun != second->lun || first->cluster != second->cluster)
    return tl::unexpected(on_device(device, ErrorCode::kCorrupt,
                                    fmt::format("its label copies are of two LUNs, {} and {}",
                                                first->lun.to_string(), second->lun.to_string())));
  if (second->generation > first->generation)
    return LabelCopies{.label = *second, .first_needs_repair = true};
  return LabelCopies{.label = *first, .second_needs_repair = *first != *second};
}

Status write_label(const LunDevice& device, const LunLabel& label) {
  CHECK(label.size_bytes <= device.size_bytes());
  const LabelBlock block = encode_label(label);
  SYMNAS_TRY(device.write(second_label_offset(label.size_bytes), block));
  return device.write(0, block);
}

Status repair_label(const LunDevice& device) {
  SYMNAS_ASSIGN(const LabelCopies copies, read_label(device));
  const LabelBlock block = encode_label(copies.label);
  if (copies.second_needs_repair)
    SYMNAS_TRY(device.write(second_label_offset(copies.label.size_bytes), block));
  if (copies.first_needs_repair) SYMNAS_TRY(device.write(0, block));
  return {};
}

Status wipe_label(const LunDevice& device, const LunLabel& label) {
  SYMNAS_TRY(device.zero(0, kLabelBytes));
  return device.zero(second_label_offset(label.size_bytes), kLabelBytes);
}

}  // namespace symnas::cvm
