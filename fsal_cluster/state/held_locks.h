// HeldLocks: the byte ranges that the owners of one VNFS hold, in which lives of their clients and
// since when, and which of these ranges their clients have not claimed since the load. Pure: no
// clock, no store; FileLocks feeds it.
//
// Thread class: thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/kv/store.h"
#include "fsal_cluster/state/lock_record.h"
#include "fsal_cluster/state/lock_table.h"
#include "fsal_cluster/state/nlm_client.h"

namespace symnas::fs {

// Ranges of one owner on one inode. Each LOCK and UNLOCK writes its whole record again, and the
// store keeps every version until it is compacted: 1,000 locked bytes, one after the other, are
// some 10 MB.
inline constexpr std::size_t kLockRangesMax = 1'000;
// An UNLOCK may split a range. When the owner holds so many ranges, the UNLOCK leaves a range
// locked that it would split.
inline constexpr std::size_t kLockRangesHeldMax = 4'000;
inline constexpr std::int64_t kLockRangeBytesMax = 32;  // encoded
static_assert(kLockRangesMax < kLockRangesHeldMax);
static_assert(static_cast<std::int64_t>(kLockRangesHeldMax) * kLockRangeBytesMax <
              kv::kTxnBytesMax / 2);

class HeldLocks {
 public:
  using Key = LockTable::Key;
  struct Kept {
    ClientLife life;
    std::int64_t since_ns = 0;  // wall clock: since when the owner holds something; 0: not known
    bool guessed = false;       // RecordedLock
  };

  // Takes a lock that was recorded before this instance. An NFSv4 client has yet to claim it.
  void load(const Key& key, RecordedLock lock);
  // From now on the key holds `ranges`. Ranges that the key does not hold any more are not
  // unclaimed either.
  void hold(const Key& key, std::vector<LockRange> ranges);
  // The key locks `range` in the life `life`; `after`: kept_after() of that life.
  void grant(const Key& key, const LockRange& range, const ClientLife& life, Kept after);

  const std::vector<LockRange>& held(const Key& key) const;
  // The ranges that the key holds in that life: none if they were locked in another life.
  std::vector<LockRange> held_in(const Key& key, const ClientLife& life) const;
  Kept kept(const Key& key) const;
  // The Kept of the key after it has locked in that life at `wall_ns`.
  Kept kept_after(const Key& key, const ClientLife& life, std::int64_t wall_ns) const;
  // As LockTable.
  std::optional<LockConflict> conflict(Ino ino, const LockOwner& owner,
                                       const LockRange& range) const;
  std::vector<Key> of_nfs4_client(const std::string& client) const;
  std::vector<Key> of_nlm() const;
  std::size_t size() const { return table_.size(); }  // keys

  // The key's client has come back for what the key holds in `range`.
  void claim(const Key& key, const LockRange& range);
  // Whether the key's client has not come back for some of what the key holds in `range`.
  bool is_unclaimed(const Key& key, const LockRange& range) const;
  // The keys of which an NFSv4 client has not claimed everything; and the ranges of a key that its
  // client has claimed.
  std::vector<Key> unclaimed_of(const std::string& client) const;
  std::vector<LockRange> claimed(const Key& key) const;

  // The NLM clients that hold something, and whether one at `address` does. Cheap.
  std::set<NlmClient> nlm_clients() const;
  bool has_nlm_client(const std::string& address) const;
  // Whether the NLM client of that address and name, which lives as `state` now, holds something of
  // a former life. Cheap, except the first question of a life.
  bool has_former(const NlmClient& client, std::int32_t state);

 private:
  LockTable table_;
  std::map<Key, Kept> kept_;                      // only keys that hold something
  std::map<NlmClient, std::size_t> nlm_clients_;  // on how many keys each holds something
  LockTable unclaimed_;                           // NFSv4: loaded, and not claimed by its owner
  // (address, name) of NLM clients that have no locks of lives before that one.
  std::map<std::pair<std::string, std::string>, std::int32_t> without_former_;
};

}  // namespace symnas::fs
