#include "fsal_cluster/load/load_table.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "common/base/ip_text.h"

namespace symnas::fs {
namespace {

// Without padding, so that its bytes can be compared.
struct CellKey {
  std::array<unsigned char, 16> client;
  std::uint16_t export_id;
  NfsOperation operation;
};
static_assert(sizeof(CellKey) == 20);
static_assert(sizeof(NfsOperation) == 2);

bool same(const CellKey& a, const CellKey& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

template <class Key>
std::size_t hash_of(const Key& key) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(&key), sizeof key});
}

std::size_t time_class(std::uint64_t time_ns) {
  std::size_t at = 0;
  while (at < kLoadTimesUs.size() && time_ns > kLoadTimesUs[at] * std::uint64_t{1000}) ++at;
  return at;
}

// Each thread has a number, so that they spread over the shards.
std::size_t thread_number() {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

std::array<unsigned char, 16> bytes_of(const in6_addr& address) {
  std::array<unsigned char, 16> out;
  std::memcpy(out.data(), &address, out.size());
  return out;
}

in6_addr address_of(const std::array<unsigned char, 16>& bytes) {
  in6_addr out;
  std::memcpy(&out, bytes.data(), bytes.size());
  return out;
}

}  // namespace

struct LoadTable::Shard {
  struct Cell {
    CellKey key;
    LoadCounters counted;  // requests = 0: the cell is free
    std::array<std::uint32_t, kLoadTimeClasses> times;
  };

  // The cell of the key; nullptr: it has none, and those where it could be are in use.
  Cell* find(const CellKey& key) REQUIRES(mutex) {
    const std::size_t begin = hash_of(key);
    for (std::size_t i = 0; i < kLoadProbesMax; ++i) {
      Cell& cell = cells[(begin + i) % kLoadShardCells];
      if (cell.counted.requests == 0) {
        cell.key = key;
        return &cell;
      }
      if (same(cell.key, key)) return &cell;
    }
    return nullptr;
  }

  Mutex mutex;
  bool used GUARDED_BY(mutex) = false;
  std::array<Cell, kLoadShardCells> cells GUARDED_BY(mutex){};
};

LoadTable::LoadTable() {
  for (auto& shard : shards_) shard = std::make_unique<Shard>();
}

LoadTable::~LoadTable() = default;

std::size_t LoadTable::PairHash::operator()(const PairKey& key) const { return hash_of(key); }

void LoadTable::count(const LoadKey& key, const LoadCounters& one) {
  const CellKey cell_key{bytes_of(key.client), key.export_id, key.operation};
  Shard& shard = *shards_[thread_number() % kLoadShards];
  const MutexLock lock(shard.mutex);
  auto* cell = shard.find(cell_key);
  if (cell == nullptr) {
    hand_on(shard);
    cell = shard.find(cell_key);
  }
  shard.used = true;
  cell->counted.add(one);
  ++cell->times[time_class(one.time_ns)];
}

void LoadTable::hand_on(Shard& shard) {
  shard.mutex.assert_held();
  if (!shard.used) return;
  shard.used = false;
  const MutexLock lock(mutex_);
  for (auto& cell : shard.cells) {
    if (cell.counted.requests == 0) continue;
    Pair& pair = pair_of({cell.key.client, cell.key.export_id});
    pair.busyness +=
        cell.counted.requests +
        (cell.counted.bytes_read + cell.counted.bytes_written) / kLoadBytesPerOperation;
    const auto known = std::ranges::find(pair.operations, cell.key.operation,
                                         &std::pair<NfsOperation, LoadCounters>::first);
    if (known != pair.operations.end()) {
      known->second.add(cell.counted);
    } else {
      pair.operations.emplace_back(cell.key.operation, cell.counted);
    }
    LoadTimes& times = times_[{cell.key.export_id, cell.key.operation}];
    for (std::size_t i = 0; i < times.size(); ++i) times[i] += cell.times[i];
    cell = {};
  }
}

LoadTable::Pair& LoadTable::pair_of(const PairKey& key) {
  const auto known = pairs_.find(key);
  if (known != pairs_.end()) return known->second;
  if (pairs_.size() >= kLoadPairsMax) make_way();
  Pair& pair = pairs_[key];
  pair.serial = next_serial_++;
  return pair;
}

void LoadTable::make_way() {
  std::vector<std::pair<std::uint64_t, PairKey>> by_busyness;
  by_busyness.reserve(pairs_.size());
  for (auto& [key, pair] : pairs_) {
    by_busyness.emplace_back(pair.busyness, key);
    pair.busyness /= 2;
  }
  const auto end = by_busyness.begin() + kLoadPairsMakeWay;
  std::nth_element(by_busyness.begin(), end, by_busyness.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto it = by_busyness.begin(); it != end; ++it) {
    const auto pair = pairs_.find(it->second);
    for (const auto& [operation, counted] : pair->second.operations)
      others_[it->second.export_id][operation].add(counted);
    pairs_.erase(pair);
  }
}

LoadReport LoadTable::report() {
  for (const auto& shard : shards_) {
    const MutexLock lock(shard->mutex);
    hand_on(*shard);
  }
  LoadReport out;
  const MutexLock lock(mutex_);
  out.rows.reserve(pairs_.size());
  for (const auto& [key, pair] : pairs_) {
    LoadRow& row = out.rows.emplace_back();
    row.client = ip_text(address_of(key.client));
    row.export_id = key.export_id;
    row.serial = pair.serial;
    row.operations.insert(pair.operations.begin(), pair.operations.end());
  }
  out.others = others_;
  out.times = times_;
  return out;
}

}  // namespace symnas::fs
