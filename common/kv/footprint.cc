#include "common/kv/footprint.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "common/base/check.h"

namespace symnas::kv {

namespace {

void add_use(Footprint& footprint, const KeyRange& range, KeyUse use) {
  if (range.end.empty()) {
    footprint.points.push_back({range.key, std::hash<std::string_view>{}(range.key), use});
  } else {
    footprint.ranges.push_back({range, use});
  }
}

// One entry per key, with the strongest use.
void deduplicate(std::vector<Footprint::Point>& points) {
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
    if (a.hash != b.hash) return a.hash < b.hash;
    if (a.key != b.key) return a.key < b.key;
    return a.use > b.use;
  });
  const auto same_key = [](const auto& a, const auto& b) {
    return a.hash == b.hash && a.key == b.key;
  };
  points.erase(std::unique(points.begin(), points.end(), same_key), points.end());
}

}  // namespace

Footprint footprint_of(const Mutation& mutation) {
  Footprint footprint;
  footprint.points.reserve(mutation.compares.size() + mutation.writes.size() +
                           mutation.merged_puts.size());
  for (const auto& compare : mutation.compares) {
    add_use(footprint, compare.range, KeyUse::kCompare);
  }
  for (const auto& write : mutation.writes) add_use(footprint, write.range, KeyUse::kWrite);
  for (const auto& merged : mutation.merged_puts) {
    add_use(footprint, merged.range, KeyUse::kMerge);
  }
  deduplicate(footprint.points);
  return footprint;
}

Footprint footprint_of_read(const std::vector<Op>& gets) {
  Footprint footprint;
  for (const Op& get : gets) add_use(footprint, get.range, KeyUse::kCompare);
  return footprint;
}

std::int32_t& Claims::Uses::of(KeyUse use) {
  switch (use) {
    case KeyUse::kCompare: return compares;
    case KeyUse::kMerge: return merges;
    case KeyUse::kWrite: break;
  }
  return writes;
}

void Claims::add(const Footprint& footprint) {
  for (const auto& point : footprint.points) ++points_[point.hash].of(point.use);
  if (!footprint.ranges.empty()) ++ranged_;
  claimed_.push_back(&footprint);
}

void Claims::remove(const Footprint& footprint) {
  for (const auto& point : footprint.points) {
    const auto found = points_.find(point.hash);
    CHECK(found != points_.end(), "a removed footprint had been added");
    --found->second.of(point.use);
    if (found->second.none()) points_.erase(found);
  }
  if (!footprint.ranges.empty()) --ranged_;
  const auto found = std::find(claimed_.begin(), claimed_.end(), &footprint);
  CHECK(found != claimed_.end(), "a removed footprint had been added");
  *found = claimed_.back();
  claimed_.pop_back();
}

bool Claims::conflicts(const Footprint& footprint) const {
  if (claimed_.empty()) return false;
  for (const auto& point : footprint.points) {
    if (point_conflicts(point)) return true;
  }
  for (const auto& range : footprint.ranges) {
    if (range_conflicts(range)) return true;
  }
  return false;
}

bool Claims::point_conflicts(const Footprint::Point& point) const {
  if (const auto found = points_.find(point.hash); found != points_.end()) {
    const Uses& uses = found->second;
    if (uses.writes > 0) return true;
    if (uses.compares > 0 && uses_conflict(KeyUse::kCompare, point.use)) return true;
    if (uses.merges > 0 && uses_conflict(KeyUse::kMerge, point.use)) return true;
  }
  if (ranged_ == 0) return false;
  for (const Footprint* other : claimed_) {
    for (const auto& range : other->ranges) {
      if (uses_conflict(range.use, point.use) && contains(range.range, point.key)) return true;
    }
  }
  return false;
}

bool Claims::range_conflicts(const Footprint::Range& range) const {
  for (const Footprint* other : claimed_) {
    for (const auto& point : other->points) {
      if (uses_conflict(range.use, point.use) && contains(range.range, point.key)) return true;
    }
    for (const auto& other_range : other->ranges) {
      if (uses_conflict(range.use, other_range.use) && overlap(range.range, other_range.range)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace symnas::kv
