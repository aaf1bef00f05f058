// LoadTable: counts operations by client, export and operation, in bounded memory.
//
// A thread counts in a shard, which it shares with few others or none; a shard that is full, or
// that is asked for, is added to the pairs of client and export. When there are kLoadPairsMax
// pairs and another one comes, the least busy quarter gives way to `others`, and the busyness of
// those that stay is halved, so that who was busy long ago gives way, too. It is the sketch of
// frequent items (Misra and Gries 1982) with the removal of many at once, as Apache DataSketches
// does it; but counters are moved, not cut, so that all sums stay true. A pair that has more than
// 1/384 of what is counted always has a row: a pair that gives way has less than at least 768
// others, and busyness adds up to at most twice of what was counted since the last removal.
//
// Thread class: thread-safe. count() allocates nothing unless a shard is handed on, and waits for
// no thread but those of its shard.
#pragma once

#include <netinet/in.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/thread_annotations.h"
#include "fsal_cluster/load/load_report.h"

namespace symnas::fs {

// Who has asked for what.
struct LoadKey {
  in6_addr client{};  // IPv4 mapped
  std::uint16_t export_id = 0;
  NfsOperation operation;
};

class LoadTable {
 public:
  LoadTable();
  ~LoadTable();
  LoadTable(const LoadTable&) = delete;
  LoadTable& operator=(const LoadTable&) = delete;

  // Counts one operation: requests = 1, worst_ns = time_ns.
  void count(const LoadKey& key, const LoadCounters& one);
  // Everything that was counted before the call.
  LoadReport report();

 private:
  struct Shard;
  struct PairKey {
    std::array<unsigned char, 16> client;
    std::uint16_t export_id;
    friend bool operator==(const PairKey&, const PairKey&) = default;
  };
  struct PairHash {
    std::size_t operator()(const PairKey& key) const;
  };
  struct Pair {
    std::uint64_t serial = 0;
    std::uint64_t busyness = 0;  // operations, and kLoadBytesPerOperation of data
    std::vector<std::pair<NfsOperation, LoadCounters>> operations;
  };

  void hand_on(Shard& shard);
  Pair& pair_of(const PairKey& key) REQUIRES(mutex_);
  void make_way() REQUIRES(mutex_);

  std::array<std::unique_ptr<Shard>, kLoadShards> shards_;
  Mutex mutex_;  // after a shard's
  std::unordered_map<PairKey, Pair, PairHash> pairs_ GUARDED_BY(mutex_);
  std::uint64_t next_serial_ GUARDED_BY(mutex_) = 1;
  std::map<std::uint16_t, LoadOperations> others_ GUARDED_BY(mutex_);
  std::map<std::pair<std::uint16_t, NfsOperation>, LoadTimes> times_ GUARDED_BY(mutex_);
};

}  // namespace symnas::fs
