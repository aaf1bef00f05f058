#include "fsal_cluster/check/window.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "fsal_cluster/check/limits.h"

namespace symnas::fs::check {
namespace {

constexpr std::size_t kDigits = 16;
// 8192 ids of eight bytes behind a table's letter: the first guess.
constexpr int kFirstBits = (15 - 8) * 8 + 13;
constexpr int kNumberBits = 128;
constexpr int kGrowBits = 3;
constexpr int kLeapBits = 16;  // when nothing was found
constexpr int kShrinkBits = 4;

// Common prefix of all keys of the range.
std::string common_prefix(const kv::KeyRange& range) {
  const auto differ =
      std::mismatch(range.key.begin(), range.key.end(), range.end.begin(), range.end.end());
  return {range.key.begin(), differ.first};
}

}  // namespace

Window::Window(kv::KeyRange range)
    : prefix_(common_prefix(range)), at_(range.key), end_(std::move(range.end)) {}

Window::Number Window::number_of(std::string_view key) const {
  Number number = 0;
  for (std::size_t i = 0; i < kDigits; ++i) {
    const std::size_t at = prefix_.size() + i;
    number = number << 8 | (at < key.size() ? static_cast<unsigned char>(key[at]) : 0);
  }
  return number;
}

std::string Window::key_of(Number number) const {
  std::string key = prefix_;
  for (std::size_t i = kDigits; i-- > 0;)
    key.push_back(static_cast<char>(static_cast<unsigned char>(number >> (8 * i))));
  return key;
}

kv::KeyRange Window::next() const {
  if (width_ == 0) return {at_, end_};
  const Number begin = number_of(at_);
  if (begin + width_ < begin) return {at_, end_};
  return {at_, std::min(key_of(begin + width_), end_)};
}

void Window::answered(const kv::OpResult& page) {
  const std::string asked_end = next().end;
  adapt(page);
  if (page.more && !page.kvs.empty()) {
    at_ = page.kvs.back().key + '\0';
    return;
  }
  at_ = asked_end;
  done_ = at_ >= end_;
}

void Window::adapt(const kv::OpResult& page) {
  if (page.count > kWindowKeysMax) {
    if (width_ == 0) {
      // Assumes that the rest is as dense as what came.
      const Number span = number_of(page.kvs.back().key) - number_of(at_);
      const auto keys = static_cast<std::int64_t>(page.kvs.size());
      width_ = std::max<Number>(span / static_cast<Number>(keys), 1) * kWindowKeys;
    } else {
      narrow(std::bit_width(static_cast<std::uint64_t>(page.count / kWindowKeys)));
    }
  } else if (page.count == 0) {
    widen(kLeapBits);
  } else if (page.count < kWindowKeys / 2) {
    widen(kGrowBits);
  }
}

void Window::widen(int bits) {
  if (width_ != 0) width_ = width_ >> (kNumberBits - bits) != 0 ? 0 : width_ << bits;
}

void Window::narrow(int bits) {
  width_ = width_ == 0 ? Number{1} << kFirstBits : std::max<Number>(width_ >> bits, 1);
}

void Window::too_much() { narrow(kShrinkBits); }

}  // namespace symnas::fs::check
