// AnswerTimes: remembers when a server answered, and for how long it did not. Thread-compatible.
// Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace symnas::vnfsd::pinger {

// A time without an answer; wall clock.
struct Gap {
  std::int64_t began_ns = 0;
  std::int64_t ended_ns = 0;
  std::int64_t ms() const { return (ended_ns - began_ns) / 1'000'000; }
};

class AnswerTimes {
 public:
  // Gaps below min_gap_ns are not remembered one by one; at most kGapsMax, the first ones.
  explicit AnswerTimes(std::int64_t min_gap_ns) : min_gap_ns_(min_gap_ns) {}

  // REQUIRES: times do not go back.
  void answered(std::int64_t at_ns);
  // Nothing was answered from the last answer until now: that counts as a gap.
  void ended(std::int64_t at_ns);

  std::uint64_t count() const { return count_; }
  Gap longest() const { return longest_; }
  const std::vector<Gap>& gaps() const { return gaps_; }

 private:
  static constexpr std::size_t kGapsMax = 100;
  void note(std::int64_t at_ns);

  const std::int64_t min_gap_ns_;
  std::uint64_t count_ = 0;
  std::int64_t last_ns_ = 0;
  Gap longest_;
  std::vector<Gap> gaps_;
};

}  // namespace symnas::vnfsd::pinger
