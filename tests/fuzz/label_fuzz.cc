// LUN labels. The checksum is made right, or no input would reach the fields.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "common/base/bytes.h"
#include "cvm/label.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace symnas;
  using namespace symnas::cvm;
  static const LabelBlock made = encode_label({.cluster = Uuid::generate(),
                                               .lun = Uuid::generate(),
                                               .volume = Uuid::generate(),
                                               .size_bytes = 1 << 30,
                                               .logical_block_bytes = 512,
                                               .name = "lun1"});
  LabelBlock block = made;
  std::memcpy(block.data(), data, std::min(size, block.size()));
  static_cast<void>(decode_label(block));
  constexpr std::size_t kChecksumAt = 20;  // docs/formats/lun_label.md
  std::memset(block.data() + kChecksumAt, 0, sizeof(std::uint32_t));
  const std::uint32_t checksum = crc32c(block);
  std::memcpy(block.data() + kChecksumAt, &checksum, sizeof checksum);
  const auto label = decode_label(block);
  if (!label) return 0;
  const auto again = decode_label(encode_label(*label));
  if (!again || *again != *label) std::abort();
  return 0;
}
