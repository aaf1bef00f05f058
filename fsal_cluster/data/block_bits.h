// BlockBits: one bit per block of an extent; all-clear and all-set cost no memory. Thread class:
// value type. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace symnas::fs {

class BlockBits {
 public:
  explicit BlockBits(std::uint32_t size = 0, bool value = false)
      : size_(size), ones_(value ? size : 0) {}
  // The form in a record: bit i = byte i / 8, bit i % 8. Empty = all bits set. Bits behind the end
  // of a short string are zero.
  static BlockBits parse(std::string_view bytes, std::uint32_t size);
  // Of a prefix; "" when the prefix is all set. Else without the zeros at its end, but for one
  // byte.
  std::string bytes(std::uint32_t first_blocks) const;

  std::uint32_t size() const { return size_; }  // for tests
  std::uint32_t count() const { return ones_; }
  bool any() const { return ones_ > 0; }
  bool all() const { return ones_ == size_; }
  bool test(std::uint32_t i) const {
    if (words_.empty()) return ones_ > 0;
    return (words_[i / 64] >> (i % 64) & 1) != 0;
  }
  void set(std::uint32_t first, std::uint32_t count, bool value);
  // Grows (new bits clear) or shrinks.
  void resize(std::uint32_t size);
  // Moves the bits from `first` on into the result.
  BlockBits split(std::uint32_t first);
  // First index >= from whose bit is `value`; size() if there is none.
  std::uint32_t next(std::uint32_t from, bool value) const;

 private:
  void expand();
  void compact();

  std::uint32_t size_;
  std::uint32_t ones_;
  std::vector<std::uint64_t> words_;  // empty: all bits are equal; bits beyond size_ are zero
};

}  // namespace symnas::fs
