// Cache: the facts that a session knows about watched keys: values and proven absences, each with
// the revision from which it is known. Facts come from the watch (apply_events), from own
// transactions and from reads (offer, settle). Of two facts about one key the one with the higher
// revision wins, in whatever order they arrive.
//
// A fact of revision q may enter only if the cache hears of every later change of its key.
// Therefore
//  - an entry remembers the watch position at which it was made (`born`) and refuses older facts;
//  - a key without an entry takes a fact only if the watch has not gone beyond q yet;
//  - whoever is about to learn a fact (by a load, or by a batch that puts the key) pins the key
//    before sending: this makes a "loading" entry, which takes the events that overtake the answer,
//    so that an old answer cannot stay;
//  - an answer to a request that was sent before the cache was opened makes no unknown key known (a
//    barrier that passed while the cache was closed relies on that), and no fact older than that
//    answer may enter afterwards.
// Facts of one transaction enter together: nobody finds one of them and then misses another.
// Two kinds of entries are not evicted: those with pins, and those whose fact the watch has not
// passed yet (among them tombstones of own deletes).
//
// Thread class: thread-safe; one mutex per shard (several are taken in the order of the shards),
// none is held during a call to other code.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"
#include "common/kv/limits.h"
#include "common/kv/session.h"

namespace symnas::kv {

class Cache {
 public:
  explicit Cache(std::int64_t bytes_max);

  // --- the watch position
  // From now on every event beyond `floor` will be announced: facts of `floor` and later may enter.
  void open(Revision floor);
  // The watch has a gap: forgets everything, pins included, and takes nothing until open() is
  // called again.
  void close();
  bool is_open() const { return open_.load(std::memory_order_acquire); }
  // A number that differs for each time the cache is open; 0: it is closed.
  std::uint64_t life() const { return is_open() ? life_.load(std::memory_order_acquire) : 0; }
  // To be called before the events of one call are applied, and after all of them have been
  // applied.
  void begin_events(Revision newest);
  void end_events(Revision newest);

  // --- facts
  struct Fact {
    std::optional<std::string> value;  // nullopt: absent
    Revision
        order;  // present: mod_revision; absent: the revision at which it was seen to be absent
  };
  struct KeyFact {
    std::string_view key;
    Fact fact;
  };
  // The events of one revision. Ignored for keys without an entry.
  void apply_events(std::vector<KeyFact> events);
  // Takes facts that an own transaction has written or found, known at its revision. `life` is what
  // life() or pin() said before the transaction was sent.
  void offer(std::vector<KeyFact> facts, Revision known_at, std::uint64_t life);
  // As offer(), for one fact of a read; returns the newer one of this fact and the fact in the
  // cache.
  CachedValue settle(std::string_view key, Fact fact, Revision known_at, std::uint64_t life);
  // Drops the fact about the key if it is older than `at`, a revision at which it proved wrong: the
  // next read loads the key.
  void forget(std::string_view key, Revision at);

  // --- pins
  // Makes sure that the key has an entry that stays until unpin(). Returns the pin to give to
  // unpin(); 0: the cache is closed, nothing is pinned, and unpin() does nothing.
  std::uint64_t pin(std::string_view key);
  void unpin(std::string_view key, std::uint64_t pin);

  // The fact about the key, if there is one. Cost: one shard mutex, one hash look-up, one copy of
  // the value.
  std::optional<CachedValue> peek(std::string_view key);
  // True when the key is known to have a mod_revision above `revision`: a compare with `revision`
  // fails for ever.
  bool changed_since(std::string_view key, Revision revision);

  // For tests: the size of all entries, as it counts for eviction; their number.
  std::int64_t bytes() const;
  std::int64_t entries() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const {
      return std::hash<std::string_view>{}(key);
    }
  };
  struct Entry;
  using Map = std::unordered_map<std::string, Entry, Hash, std::equal_to<>>;
  struct Entry {
    enum class State : std::uint8_t { kLoading, kPresent, kAbsent };
    State state = State::kLoading;
    bool referenced = false;  // since the eviction hand passed
    std::int32_t pins = 0;
    Revision order;
    Revision born;
    std::string value;
    std::list<Map::value_type*>::iterator place;
  };
  struct Shard {
    mutable Mutex mutex;
    Map map GUARDED_BY(mutex);
    // Front: newest; second chance from the back.
    std::list<Map::value_type*> by_age GUARDED_BY(mutex);
    std::int64_t bytes GUARDED_BY(mutex) = 0;
    std::uint64_t life GUARDED_BY(mutex) = 1;  // grows when the shard is emptied
  };

  static std::size_t index_of(std::string_view key);
  Shard& shard_of(std::string_view key) { return shards_[index_of(key)]; }
  // Holds the shards of all these keys.
  class ShardsLock {
   public:
    ShardsLock(Cache& cache, const std::vector<KeyFact>& facts);
    ~ShardsLock();
    ShardsLock(const ShardsLock&) = delete;
    ShardsLock& operator=(const ShardsLock&) = delete;

   private:
    Cache& cache_;
    std::bitset<kCacheShards> held_;
  };
  Entry* find(Shard& shard, std::string_view key) REQUIRES(shard.mutex);
  Entry& insert(Shard& shard, std::string_view key) REQUIRES(shard.mutex);
  void erase(Shard& shard, std::string_view key) REQUIRES(shard.mutex);
  void take(Shard& shard, Entry& entry, Fact&& fact) REQUIRES(shard.mutex);
  void offer_locked(Shard& shard, std::string_view key, Fact&& fact, Revision known_at,
                    std::uint64_t life) REQUIRES(shard.mutex);
  void make_room(Shard& shard) REQUIRES(shard.mutex);

  const std::int64_t shard_bytes_max_;
  std::atomic<bool> open_{false};
  std::atomic<std::uint64_t> life_{1};
  std::atomic<std::int64_t> applying_{0};  // events up to here may have been applied
  std::atomic<std::int64_t> applied_{0};   // events up to here have been applied
  std::array<Shard, kCacheShards> shards_;
};

}  // namespace symnas::kv
