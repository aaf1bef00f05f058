#include "fsal_cluster/space/allocator.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace symnas::fs {

void Allocator::add_group(FreeMap map, Used used) {
  const std::uint32_t group = group_of(map.group().start);
  const std::vector<BlockRun> free = map.runs();
  const bool added = groups_.emplace(group, FreeMap(map.group())).second;
  CHECK(added, "group claimed twice");
  for (const BlockRun& run : free) {
    if (used == Used::kNever) {
      give_back(run);
    } else {
      release(run);
    }
  }
}

bool Allocator::is_idle(std::uint32_t group) const {
  const bool waits = std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    return group_of(waiting.run.start) == group;
  });
  return !waits && handed_out_.within(groups_.at(group).group()).empty();
}

std::uint64_t Allocator::remove_group(std::uint32_t group) {
  CHECK(is_idle(group), "a group given back while it is in use");
  const std::uint64_t blocks = groups_.at(group).free_blocks();
  groups_.erase(group);
  with_space_.erase(group);
  free_blocks_ -= blocks;
  return blocks;
}

std::optional<BlockRun> Allocator::allocate(const SpaceWish& wish) {
  if (with_space_.empty()) return std::nullopt;
  std::uint32_t chosen = *with_space_.begin();
  const auto preferred = wish.goal ? group_of(*wish.goal) : last_used_;
  if (with_space_.contains(preferred)) {
    chosen = preferred;
  } else if (const auto next = with_space_.lower_bound(last_used_); next != with_space_.end()) {
    chosen = *next;
  }
  const bool at_goal =
      wish.goal && group_of(*wish.goal) == chosen && groups_.at(chosen).is_free({*wish.goal, 1});
  if (!at_goal && groups_.at(chosen).largest_run() < wish.blocks) {
    for (const std::uint32_t group :
         with_space_) {  // a group that holds all of it, else the roomiest
      const FreeMap& map = groups_.at(group);
      if (map.largest_run() > groups_.at(chosen).largest_run()) chosen = group;
      if (map.largest_run() >= wish.blocks) break;
    }
  }
  FreeMap& map = groups_.at(chosen);
  const auto run = map.allocate(wish);
  CHECK(run.has_value(), "a group with space gave none");
  free_blocks_ -= run->blocks;
  if (map.free_blocks() == 0) with_space_.erase(chosen);
  last_used_ = chosen;
  handed_out_.add(*run);
  if (handed_out_since_) handed_out_since_->add(*run);
  return run;
}

void Allocator::put_back(BlockRun run) {
  const std::uint32_t group = group_of(run.start);
  const auto it = groups_.find(group);
  CHECK(it != groups_.end(), "block of a group not owned");
  it->second.add(run);
  with_space_.insert(group);
  free_blocks_ += run.blocks;
}

void Allocator::give_back(BlockRun run) {
  if (run.blocks == 0) return;
  handed_out_.remove(run);
  put_back(run);
}

void Allocator::recorded(BlockRun run) {
  handed_out_.remove(run);
  if (handed_out_since_) handed_out_since_->add(run);
}

void Allocator::release(BlockRun run) {
  if (run.blocks == 0 || !groups_.contains(group_of(run.start))) return;
  handed_out_.remove(run);
  waiting_.push_back({run, quiescence_.retire(), Revision{0}});
  waiting_blocks_ += run.blocks;
  collect();
}

void Allocator::end_io(Quiescence::Ticket ticket) {
  quiescence_.end(ticket);
  collect();
}

void Allocator::set_horizon(Horizon horizon) {
  horizon_ = horizon;
  collect();
}

Quiescence::Stamp Allocator::newest_free() const {
  CHECK(!waiting_.empty(), "nothing waits");
  return waiting_.back().stamp;
}

void Allocator::date(Quiescence::Stamp upto, Revision revision) {
  for (; dated_ < waiting_.size() && waiting_[dated_].stamp <= upto; ++dated_)
    waiting_[dated_].freed_by = revision;
  collect();
}

std::uint64_t Allocator::reclaim(std::uint32_t group, const std::vector<BlockRun>& used,
                                 const std::vector<BlockRun>& announced) {
  const FreeMap& map = groups_.at(group);
  for (const BlockRun& run : used) {
    for (const BlockRun& known : gaps(run, handed_out_since_->within(run)))
      handed_out_.remove(known);
  }
  std::vector<BlockRun> occupied = map.runs();
  const auto add = [&occupied](const std::vector<BlockRun>& runs) {
    occupied.insert(occupied.end(), runs.begin(), runs.end());
  };
  add(handed_out_since_->within(map.group()));
  handed_out_since_.reset();
  add(used);
  add(announced);
  add(handed_out_.within(map.group()));
  for (const Waiting& waiting : waiting_) occupied.push_back(waiting.run);
  std::uint64_t blocks = 0;
  for (const BlockRun& run : gaps(map.group(), std::move(occupied))) {
    blocks += run.blocks;
    release(run);
  }
  return blocks;
}

void Allocator::collect() {
  while (!waiting_.empty() && quiescence_.reusable(waiting_.front().stamp)) {
    const Waiting& first = waiting_.front();
    const bool others_done = horizon_.alone || (dated_ > 0 && first.freed_by <= horizon_.quiesced);
    if (!others_done) return;
    const BlockRun run = first.run;
    waiting_.pop_front();
    if (dated_ > 0) --dated_;
    waiting_blocks_ -= run.blocks;
    put_back(run);
  }
}

}  // namespace symnas::fs
