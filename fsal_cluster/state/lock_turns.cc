#include "fsal_cluster/state/lock_turns.h"

#include <cstdint>

namespace symnas::fs {
namespace {

// Inodes that are made one after the other are locked together: neighbours get other lanes.
std::size_t lane_of(Ino ino) { return static_cast<std::size_t>(ino.value()) % LockTurns::kLanes; }

}  // namespace

LockTurns::Lanes LockTurns::of(Ino ino) { return Lanes().set(lane_of(ino)); }

LockTurns::Lanes LockTurns::of(std::span<const LockTable::Key> keys) {
  Lanes lanes;
  for (const LockTable::Key& key : keys) lanes.set(lane_of(key.first));
  return lanes;
}

// The analysis cannot follow mutexes of an array.
LockTurn::LockTurn(LockTurns& turns, LockTurns::Lanes lanes) NO_THREAD_SAFETY_ANALYSIS
    : turns_(turns),
      lanes_(lanes) {
  for (std::size_t lane = 0; lane < LockTurns::kLanes; ++lane)
    if (lanes_.test(lane)) turns_.mutexes_[lane].lock();
}

LockTurn::~LockTurn() NO_THREAD_SAFETY_ANALYSIS {
  for (std::size_t lane = 0; lane < LockTurns::kLanes; ++lane)
    if (lanes_.test(lane)) turns_.mutexes_[lane].unlock();
}

}  // namespace symnas::fs
