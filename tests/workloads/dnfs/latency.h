// Latency: how often something took how long, to about 1.5 %. Thread-compatible value type.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace symnas::dnfs {

class Latency {
 public:
  void add(std::uint64_t us) {
    ++counts_[place(us)];
    ++total_;
    max_ = std::max(max_, us);
  }

  // The time that `part` (0 to 1) of all took at most; 0 if there is none.
  std::uint64_t quantile(double part) const {
    const auto wanted = static_cast<std::uint64_t>(part * static_cast<double>(total_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if ((seen += counts_[i]) > wanted) return std::min(max_, upper(i));
    return max_;
  }
  std::uint64_t max() const { return max_; }

 private:
  // 64 steps for each power of two.
  static constexpr int kStepBits = 6;
  static constexpr std::uint64_t kSteps = 1 << kStepBits;
  static constexpr std::size_t kPlaces = 40 * kSteps;

  static std::size_t place(std::uint64_t us) {
    if (us < kSteps) return us;
    const int shift = std::bit_width(us) - kStepBits - 1;
    return std::min<std::size_t>(kPlaces - 1,
                                 static_cast<std::size_t>(shift) * kSteps + (us >> shift));
  }
  static std::uint64_t upper(std::size_t place) {
    if (place < 2 * kSteps) return place;
    const std::size_t shift = place / kSteps - 1;
    return ((place - shift * kSteps + 1) << shift) - 1;
  }

  std::array<std::uint64_t, kPlaces> counts_{};
  std::uint64_t total_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace symnas::dnfs
