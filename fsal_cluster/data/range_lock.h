// RangeLock: decides which writes may work on which blocks of one file. IoLock: keeps I/O (shared)
// and truncation or removal (exclusive) of one file apart. Thread class: thread-compatible. Pure: a
// request that must wait is named by the release that lets it in. Both locks are fair: a request
// waits behind every earlier one that it conflicts with.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace symnas::fs {

using WaiterId = std::uint64_t;

class RangeLock {
 public:
  // kShared: whole blocks that are written in place; two such writes may overlap (their order is
  // undefined anyway). kExclusive: blocks that are filled for the first time, or read, merged and
  // written back.
  enum class Mode : std::uint8_t { kShared, kExclusive };

  // Locks [begin, end), or queues the request. True: held now. REQUIRES: `id` is not in use.
  bool acquire(WaiterId id, std::uint64_t begin, std::uint64_t end, Mode mode);
  // Appends the ids that hold their range now to `granted`. REQUIRES: `id` holds.
  void release(WaiterId id, std::vector<WaiterId>& granted);

 private:
  struct Entry {
    WaiterId id;
    std::uint64_t begin;
    std::uint64_t end;
    Mode mode;
    bool held;
  };
  bool blocked(std::size_t index) const;

  std::vector<Entry> entries_;  // in order of arrival
};

class IoLock {
 public:
  bool acquire_shared(WaiterId id);
  bool acquire_exclusive(WaiterId id);
  void release_shared(std::vector<WaiterId>& granted);
  void release_exclusive(std::vector<WaiterId>& granted);
  std::uint64_t shared() const { return shared_; }
  bool idle() const { return shared_ == 0 && !exclusive_ && queue_.empty(); }

 private:
  void grant(std::vector<WaiterId>& granted);

  std::uint64_t shared_ = 0;
  bool exclusive_ = false;
  std::deque<std::pair<WaiterId, bool>> queue_;  // {id, wants exclusive}
};

}  // namespace symnas::fs
