#include "ha/detection/clock_spread.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace symnas::ha {

std::int64_t ClockSpread::Said::base_ns() const {
  return *std::max_element(bases_ns.begin(), bases_ns.begin() + std::min(count, kClockSamples));
}

void ClockSpread::heard(const std::string& head, std::int64_t wall_ns, std::int64_t mono_ns) {
  Said& said = said_[head];
  if (mono_ns - said.heard_ns > kClockAgeMs * 1'000'000) said.count = 0;
  said.bases_ns[said.count++ % kClockSamples] = wall_ns - mono_ns;
  said.heard_ns = mono_ns;
}

std::optional<ClockSpread::Sight> ClockSpread::look(std::int64_t own_wall_ns,
                                                    std::int64_t mono_ns) const {
  const std::int64_t own = own_wall_ns - mono_ns;
  std::vector<std::int64_t> bases = {own};
  Sight sight;
  for (const auto& [head, said] : said_) {
    if (mono_ns - said.heard_ns > kClockAgeMs * 1'000'000) continue;
    bases.push_back(said.base_ns());
    sight.ahead_ns[head] = said.base_ns();
  }
  if (sight.ahead_ns.empty()) return std::nullopt;
  const auto middle = bases.begin() + static_cast<std::ptrdiff_t>((bases.size() - 1) / 2);
  std::nth_element(bases.begin(), middle, bases.end());
  sight.own_ahead_ns = own - *middle;
  for (auto& [head, ahead] : sight.ahead_ns) ahead -= *middle;
  sight.base_ns = std::abs(sight.own_ahead_ns) <= kClockToleranceNs ? own : *middle;
  return sight;
}

void ClockSpread::keep_only(const std::set<std::string>& heads) {
  std::erase_if(said_, [&](const auto& one) { return !heads.contains(one.first); });
}

}  // namespace symnas::ha
