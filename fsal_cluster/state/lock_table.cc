#include "fsal_cluster/state/lock_table.h"

#include <algorithm>
#include <utility>

namespace symnas::fs {
namespace {

bool touches(const LockRange& a, const LockRange& b) {
  return a.start <= b.end && b.start <= a.end;
}

// Sorts the ranges and joins neighbours of one mode, so that equal coverage always has one form.
std::vector<LockRange> normalized(std::vector<LockRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const LockRange& a, const LockRange& b) { return a.start < b.start; });
  std::vector<LockRange> joined;
  for (const LockRange& range : ranges) {
    if (!joined.empty() && joined.back().mode == range.mode && joined.back().end != UINT64_MAX &&
        joined.back().end + 1 == range.start)
      joined.back().end = range.end;
    else
      joined.push_back(range);
  }
  return joined;
}

}  // namespace

bool is_former_life(std::int32_t a, std::int32_t b) {
  if (a == 0 || b == 0) return false;
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(b) - static_cast<std::uint32_t>(a)) >
         0;
}

bool is_lost_by_notice(std::int32_t locked_in, std::int32_t now) {
  return locked_in == 0 || is_former_life(locked_in, now);
}

bool is_another_life(const ClientLife& a, const ClientLife& b) {
  const bool other_state = a.nsm_state != 0 && b.nsm_state != 0 && a.nsm_state != b.nsm_state;
  const bool other_verifier =
      !a.verifier.empty() && !b.verifier.empty() && a.verifier != b.verifier;
  return other_state || other_verifier;
}

std::vector<LockRange> without_range(std::vector<LockRange> held, std::uint64_t start,
                                     std::uint64_t end) {
  std::vector<LockRange> left;
  for (const LockRange& range : held) {
    if (range.end < start || range.start > end) {
      left.push_back(range);
      continue;
    }
    if (range.start < start) left.push_back({range.start, start - 1, range.mode});
    if (range.end > end) left.push_back({end + 1, range.end, range.mode});
  }
  return normalized(std::move(left));
}

std::vector<LockRange> with_range(std::vector<LockRange> held, const LockRange& range) {
  std::vector<LockRange> ranges = without_range(std::move(held), range.start, range.end);
  ranges.push_back(range);
  return normalized(std::move(ranges));
}

std::vector<LockRange> compatible_with(std::vector<LockRange> others) {
  std::sort(others.begin(), others.end(),
            [](const LockRange& a, const LockRange& b) { return a.start < b.start; });
  std::vector<LockRange> out;
  std::uint64_t next = 0;
  for (const LockRange& range : others) {
    if (range.end < next) continue;
    if (range.start > next) out.push_back({next, range.start - 1, LockMode::kExclusive});
    if (range.mode == LockMode::kShared)
      out.push_back({std::max(next, range.start), range.end, LockMode::kShared});
    if (range.end == UINT64_MAX) return normalized(std::move(out));
    next = range.end + 1;
  }
  out.push_back({next, UINT64_MAX, LockMode::kExclusive});
  return normalized(std::move(out));
}

std::vector<LockRange> within(const std::vector<LockRange>& held,
                              const std::vector<LockRange>& bounds) {
  std::vector<LockRange> inside;
  auto bound = bounds.begin();
  for (const LockRange& range : held) {
    while (bound != bounds.end() && bound->end < range.start) ++bound;
    for (auto at = bound; at != bounds.end() && at->start <= range.end; ++at)
      inside.push_back(
          {std::max(range.start, at->start), std::min(range.end, at->end), range.mode});
  }
  return normalized(std::move(inside));
}

std::vector<LockRange> outside(const std::vector<LockRange>& held,
                               const std::vector<LockRange>& bounds) {
  std::vector<LockRange> gaps;
  std::uint64_t from = 0;
  for (const LockRange& bound : bounds) {
    if (bound.start > from) gaps.push_back({from, bound.start - 1, LockMode::kShared});
    if (bound.end == UINT64_MAX) return within(held, gaps);
    from = bound.end + 1;
  }
  gaps.push_back({from, UINT64_MAX, LockMode::kShared});
  return within(held, gaps);
}

bool overlaps(const std::vector<LockRange>& held, const LockRange& range) {
  return std::any_of(held.begin(), held.end(),
                     [&](const LockRange& h) { return touches(h, range); });
}

bool covers(const std::vector<LockRange>& held, const LockRange& range) {
  return std::any_of(held.begin(), held.end(), [&](const LockRange& h) {
    return h.mode == range.mode && h.start <= range.start && h.end >= range.end;
  });
}

bool covers_at_least(const std::vector<LockRange>& held, const LockRange& range) {
  std::vector<LockRange> missing = {range};
  for (const LockRange& h : held) {
    if (h.mode == LockMode::kExclusive || range.mode == LockMode::kShared)
      missing = without_range(std::move(missing), h.start, h.end);
  }
  return missing.empty();
}

std::optional<LockConflict> LockTable::conflict(Ino ino, const LockOwner& owner,
                                                const LockRange& range) const {
  for (auto it = held_.lower_bound({ino, LockOwner{}}); it != held_.end() && it->first.first == ino;
       ++it) {
    if (it->first.second == owner) continue;
    for (const LockRange& held : it->second) {
      const bool exclusive =
          held.mode == LockMode::kExclusive || range.mode == LockMode::kExclusive;
      if (exclusive && touches(held, range)) return LockConflict{it->first.second, held};
    }
  }
  return std::nullopt;
}

const std::vector<LockRange>& LockTable::held(Ino ino, const LockOwner& owner) const {
  static const std::vector<LockRange> none;
  const auto it = held_.find({ino, owner});
  return it == held_.end() ? none : it->second;
}

void LockTable::set(Ino ino, const LockOwner& owner, std::vector<LockRange> ranges) {
  if (ranges.empty())
    held_.erase({ino, owner});
  else
    held_[{ino, owner}] = std::move(ranges);
}

std::vector<LockTable::Key> LockTable::of_client(LockProtocol protocol,
                                                 const std::string& client) const {
  std::vector<Key> found;
  for (const auto& [key, ranges] : held_)
    if (key.second.protocol == protocol && key.second.client == client) found.push_back(key);
  return found;
}

std::vector<LockTable::Key> LockTable::of_protocol(LockProtocol protocol) const {
  std::vector<Key> found;
  for (const auto& [key, ranges] : held_)
    if (key.second.protocol == protocol) found.push_back(key);
  return found;
}

}  // namespace symnas::fs
