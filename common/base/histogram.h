// Histogram: how often a value was at most each of some bounds. Thread-compatible value type.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace symnas {

class Histogram {
 public:
  // `bounds`: ascending; what is above the last one is counted, too.
  explicit Histogram(std::span<const double> bounds)
      : bounds_(bounds.begin(), bounds.end()), counts_(bounds.size() + 1) {}

  void observe(double value) {
    std::size_t i = 0;
    while (i < bounds_.size() && value > bounds_[i]) ++i;
    ++counts_[i];
    sum_ += value;
  }

  const std::vector<double>& bounds() const { return bounds_; }
  // One for each bound, and one for what is above them; not cumulative.
  const std::vector<std::uint64_t>& counts() const { return counts_; }
  double sum() const { return sum_; }

 private:
  std::vector<double> bounds_;
  std::vector<std::uint64_t> counts_;
  double sum_ = 0;
};

}  // namespace symnas
