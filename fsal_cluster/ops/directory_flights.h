// DirectoryFlights: knows which directories this process is changing right now. A directory's
// content times are put without compare. So the times that were read before a change are "the state
// just before" only if no other change of the directory was under way at any time in between. Then
// a reply may carry pre-operation attributes (RFC 1813 wcc_data, RFC 8881 change_info4.atomic).
// Otherwise it must not carry them: a client would keep a cache that misses the other change.
//
// Thread class: thread-safe. Says nothing about other mounts: pre-attributes are answered under a
// sole stay only (directory_change.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"

namespace symnas::fs {

class DirectoryFlights {
 public:
  // One change of one directory, from before its first read until its reply is made.
  class Flight {
   public:
    Flight(Flight&& other) noexcept
        : flights_(std::exchange(other.flights_, nullptr)),
          directory_(other.directory_),
          entry_(other.entry_),
          alone_at_start_(other.alone_at_start_) {}
    Flight& operator=(Flight&&) = delete;
    ~Flight() {
      if (flights_ != nullptr) flights_->leave(directory_);
    }
    // No other flight of the directory has overlapped this one so far.
    bool alone() const { return alone_at_start_ && flights_->newest(directory_) == entry_; }

   private:
    friend class DirectoryFlights;
    Flight(DirectoryFlights& flights, Ino directory, std::uint64_t entry, bool alone)
        : flights_(&flights), directory_(directory), entry_(entry), alone_at_start_(alone) {}
    DirectoryFlights* flights_;
    Ino directory_;
    std::uint64_t entry_;
    bool alone_at_start_;
  };
  Flight enter(Ino directory);

 private:
  struct Directory {
    std::uint64_t active = 0;
    std::uint64_t entries = 0;
  };
  struct Shard {
    Mutex mutex;
    // Only those with active > 0.
    std::unordered_map<Ino, Directory> directories GUARDED_BY(mutex);
  };
  static constexpr std::size_t kShards = 16;  // contention of some dozen workers stays negligible

  void leave(Ino directory);
  std::uint64_t newest(Ino directory);
  Shard& shard(Ino directory) { return shards_[directory.value() % kShards]; }

  std::array<Shard, kShards> shards_;
};

}  // namespace symnas::fs
