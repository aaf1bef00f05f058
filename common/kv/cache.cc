#include "common/kv/cache.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace symnas::kv {

namespace {

std::int64_t cost_of(std::string_view key) {
  return static_cast<std::int64_t>(key.size()) + kCacheEntryOverheadBytes;
}

void raise(std::atomic<std::int64_t>& value, Revision to) {
  std::int64_t now = value.load(std::memory_order_relaxed);
  while (now < to.value() &&
         !value.compare_exchange_weak(now, to.value(), std::memory_order_acq_rel)) {
  }
}

}  // namespace

Cache::Cache(std::int64_t bytes_max)
    : shard_bytes_max_(std::max<std::int64_t>(bytes_max / kCacheShards, 1)) {}

std::size_t Cache::index_of(std::string_view key) {
  // The map uses the low bits of the same hash.
  return (Hash{}(key) >> 32) % kCacheShards;
}

Cache::ShardsLock::ShardsLock(Cache& cache, const std::vector<KeyFact>& facts) : cache_(cache) {
  for (const KeyFact& one : facts) held_.set(index_of(one.key));
  for (std::size_t i = 0; i < held_.size(); ++i) {
    if (held_.test(i)) cache_.shards_[i].mutex.lock();
  }
}

Cache::ShardsLock::~ShardsLock() {
  for (std::size_t i = 0; i < held_.size(); ++i) {
    if (held_.test(i)) cache_.shards_[i].mutex.unlock();
  }
}

Cache::Entry* Cache::find(Shard& shard, std::string_view key) {
  const auto found = shard.map.find(key);
  return found == shard.map.end() ? nullptr : &found->second;
}

Cache::Entry& Cache::insert(Shard& shard, std::string_view key) {
  make_room(shard);
  const auto [it, inserted] = shard.map.try_emplace(std::string(key));
  CHECK(inserted);
  Entry& entry = it->second;
  entry.born = Revision(applying_.load(std::memory_order_acquire));
  entry.place = shard.by_age.insert(shard.by_age.begin(), &*it);
  shard.bytes += cost_of(key);
  return entry;
}

void Cache::erase(Shard& shard, std::string_view key) {
  const auto found = shard.map.find(key);
  shard.bytes -= cost_of(key) + static_cast<std::int64_t>(found->second.value.size());
  shard.by_age.erase(found->second.place);
  shard.map.erase(found);
}

void Cache::take(Shard& shard, Entry& entry, Fact&& fact) {
  if (entry.state != Entry::State::kLoading && fact.order <= entry.order) return;
  shard.bytes -= static_cast<std::int64_t>(entry.value.size());
  entry.state = fact.value ? Entry::State::kPresent : Entry::State::kAbsent;
  entry.order = fact.order;
  entry.value = fact.value ? std::move(*fact.value) : std::string();
  shard.bytes += static_cast<std::int64_t>(entry.value.size());
}

void Cache::open(Revision floor) {
  raise(applying_, floor);
  open_.store(true, std::memory_order_release);
}

void Cache::close() {
  // insert() runs under the shard's mutex after a check of open_: nothing enters a shard once this
  // loop has emptied it.
  open_.store(false, std::memory_order_release);
  life_.fetch_add(1, std::memory_order_acq_rel);
  for (auto& shard : shards_) {
    Map old_map;
    std::list<Map::value_type*> old_list;
    const MutexLock lock(shard.mutex);
    old_map.swap(shard.map);
    old_list.swap(shard.by_age);
    shard.bytes = 0;
    ++shard.life;
  }
}

void Cache::begin_events(Revision newest) { raise(applying_, newest); }
void Cache::end_events(Revision newest) { raise(applied_, newest); }

void Cache::apply_events(std::vector<KeyFact> events) {
  const ShardsLock lock(*this, events);
  for (KeyFact& event : events) {
    Shard& shard = shard_of(event.key);
    shard.mutex.assert_held();
    Entry* entry = find(shard, event.key);
    if (entry == nullptr || event.fact.order <= entry->born) continue;
    take(shard, *entry, std::move(event.fact));
  }
}

void Cache::offer_locked(Shard& shard, std::string_view key, Fact&& fact, Revision known_at,
                         std::uint64_t life) {
  // A fact that is shown without entering must not be followed by an older one, either: an entry
  // that is made later begins behind it, wherever the cache opens.
  if (!open_.load(std::memory_order_acquire)) {
    raise(applying_, known_at);
    return;
  }
  Entry* entry = find(shard, key);
  if (life != shard.life) {
    // It may only replace what is older. A loading entry stays so, but may not become older than
    // this either.
    if (entry == nullptr) {
      raise(applying_, known_at);
      return;
    }
    if (entry->state == Entry::State::kLoading) {
      entry->born = std::max(entry->born, known_at);
      return;
    }
  }
  if (entry == nullptr) {
    if (known_at.value() < applying_.load(std::memory_order_acquire)) return;
    entry = &insert(shard, key);
  }
  if (known_at < entry->born) return;
  take(shard, *entry, std::move(fact));
}

void Cache::offer(std::vector<KeyFact> facts, Revision known_at, std::uint64_t life) {
  const ShardsLock lock(*this, facts);
  for (KeyFact& one : facts) {
    Shard& shard = shard_of(one.key);
    shard.mutex.assert_held();
    offer_locked(shard, one.key, std::move(one.fact), known_at, life);
  }
}

CachedValue Cache::settle(std::string_view key, Fact fact, Revision known_at, std::uint64_t life) {
  Shard& shard = shard_of(key);
  const MutexLock lock(shard.mutex);
  offer_locked(shard, key, Fact(fact), known_at, life);
  const Entry* entry = find(shard, key);
  if (entry != nullptr && entry->state != Entry::State::kLoading && entry->order > fact.order) {
    CachedValue newer;
    newer.mod_revision = entry->order;
    if (entry->state == Entry::State::kPresent) newer.value = entry->value;
    return newer;
  }
  return CachedValue{std::move(fact.value), fact.order};
}

void Cache::forget(std::string_view key, Revision at) {
  Shard& shard = shard_of(key);
  const MutexLock lock(shard.mutex);
  Entry* entry = find(shard, key);
  if (entry == nullptr || entry->order >= at) return;
  if (entry->pins == 0) {
    erase(shard, key);
    return;
  }
  shard.bytes -= static_cast<std::int64_t>(entry->value.size());
  entry->value = {};
  entry->state = Entry::State::kLoading;
  entry->born = std::max(entry->born, at);
}

std::uint64_t Cache::pin(std::string_view key) {
  Shard& shard = shard_of(key);
  const MutexLock lock(shard.mutex);
  if (!open_.load(std::memory_order_acquire)) return 0;
  Entry* entry = find(shard, key);
  if (entry == nullptr) entry = &insert(shard, key);
  ++entry->pins;
  return shard.life;
}

void Cache::unpin(std::string_view key, std::uint64_t life) {
  if (life == 0) return;
  Shard& shard = shard_of(key);
  const MutexLock lock(shard.mutex);
  if (life != shard.life) return;
  Entry* entry = find(shard, key);
  CHECK(entry != nullptr && entry->pins > 0, "a pinned entry stays");
  if (--entry->pins == 0 && entry->state == Entry::State::kLoading) erase(shard, key);
}

std::optional<CachedValue> Cache::peek(std::string_view key) {
  Shard& shard = shard_of(key);
  const MutexLock lock(shard.mutex);
  // close() may not have reached this shard yet. Its entries get no more updates, and barriers
  // already pass without a wait.
  if (!open_.load(std::memory_order_acquire)) return std::nullopt;
  Entry* entry = find(shard, key);
  if (entry == nullptr || entry->state == Entry::State::kLoading) return std::nullopt;
  entry->referenced = true;
  CachedValue known;
  known.mod_revision = entry->order;
  if (entry->state == Entry::State::kPresent) known.value = entry->value;
  return known;
}

bool Cache::changed_since(std::string_view key, Revision revision) {
  Shard& shard = shard_of(key);
  const MutexLock lock(shard.mutex);
  const Entry* entry = find(shard, key);
  return entry != nullptr && entry->state != Entry::State::kLoading && entry->order > revision;
}

void Cache::make_room(Shard& shard) {
  const std::int64_t applied = applied_.load(std::memory_order_acquire);
  for (int looked = 0; shard.bytes > shard_bytes_max_ && looked < kEvictionScanMax; ++looked) {
    if (shard.by_age.empty()) return;
    auto& [key, entry] = *shard.by_age.back();
    if (entry.pins > 0 || entry.referenced || entry.order.value() > applied) {
      entry.referenced = false;
      shard.by_age.splice(shard.by_age.begin(), shard.by_age, entry.place);
      continue;
    }
    erase(shard, std::string(key));
  }
}

std::int64_t Cache::bytes() const {
  std::int64_t total = 0;
  for (auto& shard : shards_) {
    const MutexLock lock(shard.mutex);
    total += shard.bytes;
  }
  return total;
}

std::int64_t Cache::entries() const {
  std::int64_t total = 0;
  for (auto& shard : shards_) {
    const MutexLock lock(shard.mutex);
    total += static_cast<std::int64_t>(shard.map.size());
  }
  return total;
}

}  // namespace symnas::kv
