#include "tests/support/register_history.h"

#include <algorithm>

#include "common/base/check.h"

namespace symnas::test {
namespace {

// The time in which the register must have held a value (forward), or must have held it for one
// moment (backward).
struct Zone {
  RegisterHistory::Value value;
  std::int64_t low_ns;
  std::int64_t high_ns;
};

std::string both(const char* what, const Zone& a, const Zone& b) {
  return std::string(what) + ": values " + std::to_string(a.value) + " [" +
         std::to_string(a.low_ns) + ", " + std::to_string(a.high_ns) + "] and " +
         std::to_string(b.value) + " [" + std::to_string(b.low_ns) + ", " +
         std::to_string(b.high_ns) + "]";
}

}  // namespace

RegisterHistory::RegisterHistory() {
  constexpr std::int64_t kBefore = std::numeric_limits<std::int64_t>::min();
  clusters_[kInitial].write = Operation{kBefore, kBefore};
}

void RegisterHistory::add_write(Value value, std::int64_t start_ns, std::int64_t end_ns) {
  Cluster& cluster = clusters_[value];
  CHECK(!cluster.write, "one write per value");
  cluster.write = Operation{start_ns, end_ns};
}

void RegisterHistory::add_read(Value value, std::int64_t start_ns, std::int64_t end_ns) {
  clusters_[value].reads.push_back({start_ns, end_ns});
}

std::optional<std::string> RegisterHistory::violation() const {
  std::vector<Zone> forward;
  std::vector<Zone> backward;
  for (const auto& [value, cluster] : clusters_) {
    const std::string name = "value " + std::to_string(value);
    if (!cluster.write) return name + " was read and never written";
    if (cluster.reads.empty() && cluster.write->end_ns == kNever) continue;  // maybe never happened
    std::int64_t first_end = cluster.write->end_ns;
    std::int64_t last_start = cluster.write->start_ns;
    for (const Operation& read : cluster.reads) {
      if (read.end_ns < cluster.write->start_ns) return name + " was read before it was written";
      first_end = std::min(first_end, read.end_ns);
      last_start = std::max(last_start, read.start_ns);
    }
    if (first_end < last_start) {
      forward.push_back({value, first_end, last_start});
    } else {
      backward.push_back({value, last_start, first_end});
    }
  }
  const auto by_low = [](const Zone& a, const Zone& b) { return a.low_ns < b.low_ns; };
  std::sort(forward.begin(), forward.end(), by_low);
  for (std::size_t i = 1; i < forward.size(); ++i) {
    if (forward[i].low_ns < forward[i - 1].high_ns)
      return both("the register must have held both at once", forward[i - 1], forward[i]);
  }
  for (const Zone& zone : backward) {
    // The last forward zone that begins before this one; forward zones do not overlap.
    auto after = std::upper_bound(forward.begin(), forward.end(), zone, by_low);
    if (after == forward.begin()) continue;
    const Zone& around = *std::prev(after);
    if (around.low_ns < zone.low_ns && zone.high_ns < around.high_ns)
      return both("the second was written and gone again while the register held the first", around,
                  zone);
  }
  return std::nullopt;
}

}  // namespace symnas::test
