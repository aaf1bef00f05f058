#include "fsal_cluster/space/run_set.h"

#include <algorithm>
#include <iterator>

namespace symnas::fs {

void RunSet::add(BlockRun run) {
  if (run.blocks == 0) return;
  remove(run);
  std::uint64_t start = run.start;
  std::uint64_t end = run.end();
  const auto next = runs_.lower_bound(start);
  if (next != runs_.begin() && std::prev(next)->second == start) {
    start = std::prev(next)->first;
    runs_.erase(std::prev(next));
  }
  if (const auto follower = runs_.find(end); follower != runs_.end()) {
    end = follower->second;
    runs_.erase(follower);
  }
  runs_.emplace(start, end);
  blocks_ += run.blocks;
}

void RunSet::remove(BlockRun run) {
  if (run.blocks == 0) return;
  auto it = runs_.lower_bound(run.start);
  if (it != runs_.begin() && std::prev(it)->second > run.start) --it;
  while (it != runs_.end() && it->first < run.end()) {
    const std::uint64_t start = it->first;
    const std::uint64_t end = it->second;
    it = runs_.erase(it);
    if (start < run.start) runs_.emplace(start, run.start);
    if (end > run.end()) runs_.emplace(run.end(), end);
    blocks_ -= std::min(end, run.end()) - std::max(start, run.start);
  }
}

std::vector<BlockRun> RunSet::within(BlockRun range) const {
  std::vector<BlockRun> out;
  auto it = runs_.lower_bound(range.start);
  if (it != runs_.begin() && std::prev(it)->second > range.start) --it;
  for (; it != runs_.end() && it->first < range.end(); ++it) {
    const std::uint64_t start = std::max(it->first, range.start);
    out.push_back({start, std::min(it->second, range.end()) - start});
  }
  return out;
}

std::vector<BlockRun> gaps(BlockRun range, std::vector<BlockRun> occupied) {
  std::sort(occupied.begin(), occupied.end(),
            [](const BlockRun& a, const BlockRun& b) { return a.start < b.start; });
  std::vector<BlockRun> out;
  std::uint64_t at = range.start;
  for (const BlockRun& run : occupied) {
    if (run.end() <= at) continue;
    if (run.start >= range.end()) break;
    if (run.start > at) out.push_back({at, run.start - at});
    at = run.end();
  }
  if (at < range.end()) out.push_back({at, range.end() - at});
  return out;
}

}  // namespace symnas::fs
