#include "fsal_cluster/data/block_bits.h"

#include <algorithm>
#include <bit>

#include "common/base/check.h"

namespace symnas::fs {

BlockBits BlockBits::parse(std::string_view bytes, std::uint32_t size) {
  if (bytes.empty()) return BlockBits(size, true);
  BlockBits bits(size);
  bits.expand();
  for (std::uint32_t i = 0; i < size && i / 8 < bytes.size(); ++i) {
    if ((static_cast<unsigned char>(bytes[i / 8]) >> (i % 8) & 1) == 0) continue;
    bits.words_[i / 64] |= std::uint64_t{1} << (i % 64);
    ++bits.ones_;
  }
  bits.compact();
  return bits;
}

std::string BlockBits::bytes(std::uint32_t first_blocks) const {
  CHECK(first_blocks <= size_);
  if (next(0, false) >= first_blocks) return {};
  std::string out((first_blocks + 7) / 8, '\0');
  for (std::uint32_t i = next(0, true); i < first_blocks; i = next(i + 1, true)) {
    out[i / 8] = static_cast<char>(static_cast<unsigned char>(out[i / 8]) | 1U << (i % 8));
  }
  while (out.size() > 1 && out.back() == '\0') out.pop_back();
  return out;
}

void BlockBits::expand() {
  if (!words_.empty() || size_ == 0) return;
  words_.assign((size_ + 63) / 64, ones_ > 0 ? ~std::uint64_t{0} : 0);
  if (ones_ > 0 && size_ % 64 != 0) words_.back() >>= 64 - size_ % 64;
}

void BlockBits::compact() {
  if (ones_ == 0 || ones_ == size_) words_.clear();
}

void BlockBits::set(std::uint32_t first, std::uint32_t count, bool value) {
  CHECK(first + count <= size_);
  if (count == 0 || (value ? all() : !any())) return;
  if (count == size_) {
    ones_ = value ? size_ : 0;
    words_.clear();
    return;
  }
  expand();
  for (std::uint32_t i = first; i < first + count;) {
    const std::uint32_t in_word = i % 64;
    const std::uint32_t n = std::min(64 - in_word, first + count - i);
    const std::uint64_t mask = (n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1)
                               << in_word;
    std::uint64_t& word = words_[i / 64];
    const int before = std::popcount(word);
    word = value ? word | mask : word & ~mask;
    ones_ = static_cast<std::uint32_t>(static_cast<int>(ones_) + std::popcount(word) - before);
    i += n;
  }
  compact();
}

void BlockBits::resize(std::uint32_t size) {
  if (size == size_) return;
  if (size < size_) {
    set(size, size_ - size, false);
    if (!words_.empty()) words_.resize((size + 63) / 64);
    size_ = size;
    compact();
    return;
  }
  if (ones_ > 0) {
    expand();
    words_.resize((size + 63) / 64, 0);
  }
  size_ = size;
}

BlockBits BlockBits::split(std::uint32_t first) {
  CHECK(first <= size_);
  BlockBits rest(size_ - first);
  for (std::uint32_t i = next(first, true); i < size_;) {
    const std::uint32_t end = next(i, false);
    rest.set(i - first, end - i, true);
    i = next(end, true);
  }
  resize(first);
  return rest;
}

std::uint32_t BlockBits::next(std::uint32_t from, bool value) const {
  if (from >= size_) return size_;
  if (words_.empty()) return (ones_ > 0) == value ? from : size_;
  for (std::uint32_t i = from; i < size_;) {
    std::uint64_t word = value ? words_[i / 64] : ~words_[i / 64];
    word &= ~std::uint64_t{0} << (i % 64);
    if (word != 0) {
      const auto hit = i / 64 * 64 + static_cast<std::uint32_t>(std::countr_zero(word));
      return std::min(hit, size_);
    }
    i = i / 64 * 64 + 64;
  }
  return size_;
}

}  // namespace symnas::fs
