// LockTurns: one decision about the locks of an inode at a time. A turn is held while its
// transaction is under way; decisions about other inodes need not wait for that. Turns are given in
// the order of asking (FifoMutex). Inodes share kLanes lanes, so two inodes may wait for each
// other, too.
//
// Thread class: thread-safe. No thread asks for a turn while it has one. For clang's analysis a
// turn of whatever inodes holds the LockTurns: that it is a turn of the right inode is not checked.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <span>

#include "common/base/fifo_mutex.h"
#include "common/base/ids.h"
#include "common/base/thread_annotations.h"
#include "fsal_cluster/state/lock_table.h"

namespace symnas::fs {

class CAPABILITY("turn") LockTurns {
 public:
  // More than threads of an instance that wait for the store at once.
  static constexpr std::size_t kLanes = 64;
  using Lanes = std::bitset<kLanes>;

  static Lanes of(Ino ino);
  static Lanes of(std::span<const LockTable::Key> keys);
  static Lanes all() { return Lanes().set(); }

 private:
  friend class LockTurn;
  std::array<FifoMutex, kLanes> mutexes_;
};

// A turn of these lanes. Lanes are taken in ascending order, so that turns never wait in a circle.
class SCOPED_CAPABILITY LockTurn {
 public:
  LockTurn(LockTurns& turns, LockTurns::Lanes lanes) ACQUIRE(turns);
  ~LockTurn() RELEASE();
  LockTurn(const LockTurn&) = delete;
  LockTurn& operator=(const LockTurn&) = delete;

 private:
  LockTurns& turns_;
  const LockTurns::Lanes lanes_;
};

}  // namespace symnas::fs
