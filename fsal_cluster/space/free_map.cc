#include "fsal_cluster/space/free_map.h"

#include <algorithm>
#include <iterator>

#include "common/base/check.h"
#include "fsal_cluster/space/limits.h"

namespace symnas::fs {
namespace {

// First block >= start with block % align == residue.
std::uint64_t aligned_from(std::uint64_t start, const SpaceWish& wish) {
  const std::uint64_t below = start % wish.align;
  return start + (wish.residue + wish.align - below) % wish.align;
}

}  // namespace

FreeMap FreeMap::without(BlockRun group, const std::vector<BlockRun>& used) {
  std::vector<BlockRun> sorted = used;
  std::sort(sorted.begin(), sorted.end(),
            [](const BlockRun& a, const BlockRun& b) { return a.start < b.start; });
  FreeMap map(group);
  std::uint64_t at = group.start;
  for (const BlockRun& run : sorted) {
    if (run.start > at) map.insert({at, std::min(run.start, group.end()) - at});
    at = std::max(at, run.end());
    if (at >= group.end()) break;
  }
  if (at < group.end()) map.insert({at, group.end() - at});
  return map;
}

void FreeMap::insert(BlockRun run) {
  by_start_.emplace(run.start, run.blocks);
  by_size_.emplace(run.blocks, run.start);
  free_blocks_ += run.blocks;
}

void FreeMap::remove(std::map<std::uint64_t, std::uint64_t>::iterator run) {
  by_size_.erase({run->second, run->first});
  free_blocks_ -= run->second;
  by_start_.erase(run);
}

void FreeMap::add(BlockRun run) {
  if (run.blocks == 0) return;
  CHECK(run.start >= group_.start && run.end() <= group_.end(), "run outside its group");
  auto next = by_start_.lower_bound(run.start);
  CHECK(next == by_start_.end() || run.end() <= next->first, "block freed twice");
  if (next != by_start_.begin()) {
    const auto previous = std::prev(next);
    CHECK(previous->first + previous->second <= run.start, "block freed twice");
    if (previous->first + previous->second == run.start) {
      run = {previous->first, previous->second + run.blocks};
      remove(previous);
    }
  }
  if (next != by_start_.end() && next->first == run.end()) {
    run.blocks += next->second;
    remove(next);
  }
  insert(run);
}

bool FreeMap::is_free(BlockRun run) const {
  auto next = by_start_.upper_bound(run.start);
  if (next == by_start_.begin()) return false;
  const auto holder = std::prev(next);
  return run.end() <= holder->first + holder->second;
}

void FreeMap::take(BlockRun run) {
  if (run.blocks == 0) return;
  auto next = by_start_.upper_bound(run.start);
  CHECK(next != by_start_.begin(), "block taken twice");
  const auto holder = std::prev(next);
  const BlockRun whole{holder->first, holder->second};
  CHECK(run.end() <= whole.end(), "block taken twice");
  remove(holder);
  if (whole.start < run.start) insert({whole.start, run.start - whole.start});
  if (run.end() < whole.end()) insert({run.end(), whole.end() - run.end()});
}

std::optional<BlockRun> FreeMap::fit(const SpaceWish& wish) const {
  if (by_size_.empty() || wish.blocks == 0) return std::nullopt;
  if (wish.goal) {
    auto next = by_start_.upper_bound(*wish.goal);
    if (next != by_start_.begin()) {
      const auto holder = std::prev(next);
      const std::uint64_t end = holder->first + holder->second;
      if (end > *wish.goal) return BlockRun{*wish.goal, std::min(wish.blocks, end - *wish.goal)};
    }
  }
  // The smallest run that holds all of it; a run of blocks + align - 1 always does.
  int tries = 0;
  for (auto it = by_size_.lower_bound({wish.blocks, 0}); it != by_size_.end(); ++it) {
    const std::uint64_t start = aligned_from(it->second, wish);
    if (start + wish.blocks <= it->second + it->first) return BlockRun{start, wish.blocks};
    if (++tries >= kAlignmentTriesMax) break;
  }
  const auto sure = by_size_.lower_bound({wish.blocks + wish.align - 1, 0});
  if (sure != by_size_.end()) return BlockRun{aligned_from(sure->second, wish), wish.blocks};
  const auto& [blocks, start] = *by_size_.rbegin();
  const std::uint64_t aligned = aligned_from(start, wish);
  if (aligned < start + blocks) {
    return BlockRun{aligned, std::min(wish.blocks, start + blocks - aligned)};
  }
  return BlockRun{start, std::min(wish.blocks, blocks)};
}

std::optional<BlockRun> FreeMap::allocate(const SpaceWish& wish) {
  const auto run = fit(wish);
  if (run) take(*run);
  return run;
}

std::vector<BlockRun> FreeMap::runs() const {
  std::vector<BlockRun> out;
  out.reserve(by_start_.size());
  for (const auto& [start, blocks] : by_start_) out.push_back({start, blocks});
  return out;
}

}  // namespace symnas::fs
