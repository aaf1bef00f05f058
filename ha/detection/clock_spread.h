// ClockSpread: how far the heads' wall clocks are apart, and what time it is for most of them. It
// is told what each head says of its clock; it decides nothing else. Thread class:
// thread-compatible.
//
// Clocks are compared as "wall clock less this head's monotonic clock" (a base, in nanoseconds): a
// base changes only when somebody sets a clock. What a head says arrives later than it was said, so
// its base looks too small by that, never too large.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace symnas::ha {

// How often a head says what its clock shows.
inline constexpr std::int64_t kClockSayMs = 500;
// What was said counts for so long.
inline constexpr std::int64_t kClockAgeMs = 5'000;
// The largest of so many answers of a head in a row counts: one that was on its way for long, or
// waited while this head was paused, does not.
inline constexpr std::size_t kClockSamples = 4;
// A clock that is so near to what most say is right: NTP and a busy network explain it.
inline constexpr std::int64_t kClockToleranceNs = 500'000'000;

class ClockSpread {
 public:
  struct Sight {
    // Of the clock to go by: this head's, if that is right; else the median, of an even number of
    // clocks the earlier of the two in the middle: a time that is shown cannot be taken back.
    std::int64_t base_ns = 0;
    std::int64_t own_ahead_ns = 0;                 // of this head's clock, of the median
    std::map<std::string, std::int64_t> ahead_ns;  // of the other heads' clocks
  };

  // The head's wall clock showed `wall_ns` when it said so; this head heard it at `mono_ns`.
  void heard(const std::string& head, std::int64_t wall_ns, std::int64_t mono_ns);
  // nullopt: no other head has said anything lately.
  std::optional<Sight> look(std::int64_t own_wall_ns, std::int64_t mono_ns) const;
  // Forgets heads that are not members any more.
  void keep_only(const std::set<std::string>& heads);

 private:
  struct Said {
    std::array<std::int64_t, kClockSamples> bases_ns{};  // a ring
    std::size_t count = 0;                               // ever
    std::int64_t heard_ns = 0;
    std::int64_t base_ns() const;
  };
  std::map<std::string, Said> said_;
};

}  // namespace symnas::ha
