// Repeats: which of several messages of one kind are written: the first ones of each period. The
// others are counted. Pure; the caller brings the time. Thread-compatible.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace symnas::log {

class Repeats {
 public:
  // So many messages in a period of `period_ns`.
  Repeats(std::uint32_t written_max, std::int64_t period_ns)
      : written_max_(written_max), period_ns_(period_ns) {}

  // nullopt: the message is only counted. Else it is to be written, and so many of its kind were
  // counted since the last one that was written. now_ns: monotonic.
  std::optional<std::uint64_t> admit(std::int64_t now_ns) {
    if (!began_ns_ || now_ns - *began_ns_ >= period_ns_) {
      began_ns_ = now_ns;
      written_ = 0;
    }
    if (written_ >= written_max_) {
      ++counted_;
      return std::nullopt;
    }
    ++written_;
    return std::exchange(counted_, 0);
  }

 private:
  std::uint32_t written_max_;
  std::int64_t period_ns_;
  std::optional<std::int64_t> began_ns_;
  std::uint32_t written_ = 0;
  std::uint64_t counted_ = 0;
};

}  // namespace symnas::log
