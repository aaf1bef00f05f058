#include "fsal_cluster/nsm/xdr.h"

#include "common/base/bytes.h"

namespace symnas::nsm {
namespace {

constexpr std::size_t kUnitBytes = 4;

std::size_t padding(std::size_t bytes) { return (kUnitBytes - bytes % kUnitBytes) % kUnitBytes; }

}  // namespace

void XdrWriter::put_u32(std::uint32_t value) { append_be32(bytes_, value); }

void XdrWriter::put_string(std::string_view text) {
  put_u32(static_cast<std::uint32_t>(text.size()));
  put_fixed(text);
}

void XdrWriter::put_fixed(std::string_view opaque) {
  bytes_ += opaque;
  bytes_.append(padding(opaque.size()), '\0');
}

std::string_view XdrReader::take(std::size_t bytes) {
  if (failed_ || left_.size() < bytes) {
    failed_ = true;
    left_ = {};
    return {};
  }
  const std::string_view taken = left_.substr(0, bytes);
  left_.remove_prefix(bytes);
  return taken;
}

std::uint32_t XdrReader::u32() {
  const std::string_view bytes = take(kUnitBytes);
  return bytes.empty() ? 0 : read_be32(bytes, 0);
}

std::string_view XdrReader::string(std::size_t bytes_max) {
  const std::size_t bytes = u32();
  if (bytes > bytes_max) failed_ = true;
  const std::string_view text = take(bytes);
  take(padding(bytes));
  return failed_ ? std::string_view() : text;
}

}  // namespace symnas::nsm
