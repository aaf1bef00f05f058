#include "tests/client/model/file_bytes.h"

#include <algorithm>

namespace symnas::model {

void FileBytes::resize(std::uint64_t size) {
  if (size < size_) {
    const std::uint64_t last = size / kBlockBytes;
    blocks_.erase(blocks_.upper_bound(last), blocks_.end());
    const auto edge = blocks_.find(last);
    if (edge != blocks_.end()) {
      const std::size_t kept = size % kBlockBytes;
      std::fill(edge->second.begin() + static_cast<std::ptrdiff_t>(kept), edge->second.end(), '\0');
      if (kept == 0) blocks_.erase(edge);
    }
  }
  size_ = size;
}

void FileBytes::write(std::uint64_t offset, std::string_view data) {
  size_ = std::max(size_, offset + data.size());
  while (!data.empty()) {
    const std::size_t in_block = offset % kBlockBytes;
    const std::size_t n = std::min<std::size_t>(data.size(), kBlockBytes - in_block);
    std::string& block = blocks_[offset / kBlockBytes];
    block.resize(kBlockBytes, '\0');
    block.replace(in_block, n, data.substr(0, n));
    offset += n;
    data.remove_prefix(n);
  }
}

std::string FileBytes::read(std::uint64_t offset, std::uint64_t count) const {
  if (offset >= size_) return {};
  count = std::min(count, size_ - offset);
  std::string out(count, '\0');
  auto it = blocks_.lower_bound(offset / kBlockBytes);
  for (; it != blocks_.end() && it->first * kBlockBytes < offset + count; ++it) {
    const std::uint64_t begin = std::max(it->first * kBlockBytes, offset);
    const std::uint64_t end = std::min((it->first + 1) * kBlockBytes, offset + count);
    out.replace(begin - offset, end - begin, it->second, begin % kBlockBytes, end - begin);
  }
  return out;
}

std::vector<std::uint64_t> FileBytes::written_blocks() const {
  std::vector<std::uint64_t> offsets;
  for (const auto& [block, bytes] : blocks_) offsets.push_back(block * kBlockBytes);
  return offsets;
}

}  // namespace symnas::model
