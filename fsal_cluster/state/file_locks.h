// FileLocks: byte-range locks that outlive the process. A lock is answered GRANTED only after its
// record is in the store, and a recorded lock is a held lock (INV-7): after a crash the records
// stand until their owner unlocks, returns or is revoked.
//
// Thread class: thread-safe; calls block until their transaction is known, but for unlock(kLater).
// Invariants: the store never says less than the table: an unlock may be recorded late (a thread of
// its own tries until it is), a lock never. No record is written that conflicts with another one in
// the store: what is late for an inode is written before a lock of it.
// A VNFS has one mount of a filesystem, so the table in memory, loaded at mount, is what its owners
// hold. Owners of other VNFSs conflict, too: alone, by what was loaded; beside other mounts each
// decision reads what is recorded of the inode, and its transaction compares that nothing of it has
// changed since. Locks: order_mutex_ (held across transactions, got in turn) -> mutex_ (short).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/fifo_mutex.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/env/clock.h"
#include "common/kv/session.h"
#include "fsal_cluster/state/foreign_locks.h"
#include "fsal_cluster/state/gate.h"
#include "fsal_cluster/state/lock_record.h"
#include "fsal_cluster/state/lock_table.h"
#include "fsal_cluster/state/membership.h"
#include "fsal_cluster/state/nlm_client.h"
#include "fsal_cluster/state/nlm_lives.h"

namespace symnas::fs {

// How long the records of an NFSv4 client that has not come back stand against others: so many NFS
// leases of continuous service (DESIGN 5.5). NLM has no lease: its records never expire.
inline constexpr std::int64_t kUnclaimedLeases = 2;
inline constexpr std::int64_t kUsualLeaseS = 20;

// How often the instance of another VNFS is asked whether the client of a lock there is away.
inline constexpr std::int64_t kAskAgainNs = 5'000'000'000;

// Pause before an unlock that could not be recorded (quota, queue full) is tried again.
inline constexpr std::int64_t kLateUnlockRetryMs = 500;

// Ranges of one owner on one inode. Each LOCK and UNLOCK writes its whole record anew, which the
// store keeps until it is compacted: 1,000 locked bytes, one after the other, are some 10 MB.
inline constexpr std::size_t kLockRangesMax = 1'000;
// An UNLOCK may split a range: of so many it leaves what it would split.
inline constexpr std::size_t kLockRangesHeldMax = 4'000;
inline constexpr std::int64_t kLockRangeBytesMax = 32;  // encoded
static_assert(kLockRangesMax < kLockRangesHeldMax);
static_assert(static_cast<std::int64_t>(kLockRangesHeldMax) * kLockRangeBytesMax <
              kv::kTxnBytesMax / 2);

// Records of one transaction when many go: a member of the store applies it in about a millisecond.
inline constexpr std::size_t kLocksAtOnce = 100;

class FileLocks {
 public:
  // Loads every recorded lock. Blocks. Errors: those of Session::range, kCorrupt.
  // `membership` and `gate` outlive it; null: alone for ever, and always open. `lease_s`: of NFSv4.
  static Result<std::unique_ptr<FileLocks>> load(kv::Session& session, const env::Clock& clock,
                                                 FsId fs, std::string vnfs,
                                                 Membership* membership = nullptr,
                                                 const Gate* gate = nullptr,
                                                 std::int64_t lease_s = kUsualLeaseS);
  ~FileLocks();

  // What a lock request came to.
  struct Answer {
    bool granted = false;
    LockConflict conflict;  // when not granted
  };

  // Locks `range`, replacing what the owner held there. A reclaim is granted only when the records
  // say that the owner holds all of it (RFC 8881 8.4.3: otherwise somebody else may have held it in
  // between); attaching costs no write. The mode may be another one, as after a change of it that
  // was not answered: a stronger one stays, a weaker one is changed as by any other lock.
  // `life`: in which of its lives the client locks; it is recorded, and what the owner has locked
  // of the file in a former one is dropped with it. A reclaim changes nothing about that. A lock
  // that an NLM client asked for in a life before the recorded one is denied.
  // Errors: those of Session, kConflict; kInvalidArgument: the life is over (note_nlm_life);
  // kTooLarge: the owner would hold more than kLockRangesMax ranges of the file.
  Result<Answer> lock(Ino ino, const LockOwner& owner, const LockRange& range, bool is_reclaim,
                      const ClientLife& life = {});
  // Unlocks, also when it answers an error: the server in front of us has forgotten the range
  // already. The record follows later then, or with the next UNLOCK of the owner. kNow waits for
  // the record, kLater for nothing. Errors: those of Session::commit. Of an owner that holds
  // kLockRangesHeldMax ranges of the file only whole ones are unlocked: the rest stays locked.
  enum class Record { kNow, kLater };
  Status unlock(Ino ino, const LockOwner& owner, std::uint64_t start, std::uint64_t end,
                Record when);
  // The NLM client at `address` lives as `state` from now on: what it asks for in former lives is
  // refused, wherever it is on its way. Never blocks for a transaction.
  void note_nlm_life(const std::string& address, std::int32_t state);
  // It has lost its locks: unlocks all of them but those of its life `but_state` and of later ones,
  // also those of LOCKs that are under way, and tries again what could not be recorded before.
  // Waits for the transaction under way. Errors: as unlock().
  Status forget_nlm_client(const std::string& address, std::optional<std::int32_t> but_state);
  // The NFSv4 client lives now as `verifier` says: unlocks what it locked in another life. Errors:
  // as unlock().
  Status forget_former_lives(const std::string& client, const std::string& verifier);
  // The NFSv4 client has reclaimed everything that it holds (RECLAIM_COMPLETE, RFC 8881 18.51):
  // unlocks what it was recorded to hold and has neither reclaimed nor locked anew since the load.
  // Errors: as unlock().
  Status forget_unclaimed(const std::string& client);
  // Somebody elsewhere wants what is recorded so: revokes its client if that has been away from
  // something in `wanted` for too long (kUnclaimedLeases). Errors: as write().
  Status revoke_if_away(Ino ino, const LockOwner& owner, const LockRange& wanted);
  // Whether the owner's record is still the one of that revision.
  bool is_recorded_as(Ino ino, const LockOwner& owner, Revision revision);
  // Whose NLM locks are recorded under this VNFS.
  std::set<NlmClient> nlm_clients() const;
  // Whether any of them is at `address`, locks at this moment, or has unlocks that are late. Cheap:
  // whoever likes may ask.
  bool has_nlm_client(const std::string& address) const;
  // Whether an NLM client that locks as `state` now still has locks of former lives here: its
  // notice was lost. A client: an address and a name, through whatever VIP. Cheap but for the first
  // question of a life.
  bool has_outlived_locks(const LockOwner& owner, std::int32_t state);
  // Whether unlocks of the NLM client at `address` are late.
  bool owes_unlocks_of(const std::string& address) const;
  // Records what is late. Errors: those of Session::commit; the rest stays late.
  Status record_unlocks();
  Answer test(Ino ino, const LockOwner& owner, const LockRange& range);
  // Loads what owners of other VNFSs have recorded, before this mount turns sole. Blocks. Errors:
  // as load().
  Status turning_sole();

  std::size_t size() const;

 private:
  FileLocks(kv::Session& session, const env::Clock& clock, FsId fs, std::string vnfs,
            Membership* membership, const Gate* gate, std::int64_t lease_s);
  using Key = std::pair<Ino, LockOwner>;
  class UnderWay;
  struct Kept {
    ClientLife life;
    std::int64_t since_ns = 0;  // wall clock: since when the owner holds something; 0: not known
  };

  // order_mutex_: who releases much does it in parts, and others get their turn in between.
  std::unique_lock<FifoMutex> take_turn();

  // REQUIRES for all: order_mutex_ is held.
  std::optional<LockConflict> standing_conflict(Ino ino, const LockOwner& owner,
                                                const LockRange& range);
  void revoke_client(const LockOwner& holder);
  // A stay, and nullopt when nobody else can record anything.
  std::optional<Membership::Stay> enter() const;
  // What is recorded of the inode now. The compare holds until something is added to it or changed.
  // Errors: Session::range, kCorrupt.
  Result<kv::Compare> look(Ino ino);
  // Of owners of other VNFSs, as known. Alone, those that stay away too long are revoked.
  std::optional<LockConflict> foreign_conflict(Ino ino, const LockRange& range,
                                               const Membership::Stay* stay);
  // Beside other mounts, at most every kAskAgainNs: has the instance that holds it asked. Where
  // there has been none for too long, takes the client's locks itself: true.
  bool ask_for(const ForeignLock& lock, const LockRange& wanted);
  void order_look_at(const ForeignLock& lock, const LockRange& wanted);
  // Since when nobody serves the VNFS, by the claim of the youngest mount. nullopt: somebody does.
  // Errors: Session::range, kCorrupt.
  struct Unserved {
    Revision claimed;
    std::int64_t since_ns = 0;
  };
  Result<std::optional<Unserved>> unserved(const std::string& vnfs);
  // Erases everything that its client has recorded through its VNFS, if no mount has been claimed
  // since `claimed` (nullopt: whatever was claimed), and only then forgets it. Errors: as write().
  Status take_client(const ForeignLock& lock, std::optional<Revision> claimed);
  // Writes what one owner holds, nothing else changes. The key is not late afterwards.
  // Errors: kConflict (a compare did not hold), Session::commit.
  Status write(const Key& key, const RecordedLock& lock,
               std::optional<kv::Compare> unchanged = std::nullopt);
  Result<std::optional<LockConflict>> try_lock(const Key& key, const LockRange& range,
                                               const ClientLife& life);
  // Erases their records, if nobody else has changed them. Errors: as write().
  Status erase(std::span<const Key> keys);
  Status write_late(const Key& key);
  Status write_late(std::span<const Key> keys);
  Status write_late_of(Ino ino);
  Result<Revision> stored_revision(const std::string& store_key);

  // REQUIRES for all: mutex_ is held.
  // Whether its client has stayed away for too long from something of it that lies in `range`.
  bool revocable(const Key& key, const LockRange& range) const;
  // Its client has come back for what it holds in `range`.
  void claim(const Key& key, const LockRange& range);
  // It holds no more than that. The record is late then.
  void leave(const Key& key, std::vector<LockRange> ranges);
  // Unlocks what an NFSv4 client was recorded to hold and has not claimed. Those keys.
  std::vector<Key> leave_unclaimed(const std::string& client);
  Kept kept(const Key& key) const;
  Kept kept_after(const Key& key, const ClientLife& life) const;
  // What it holds in that life: nothing that was locked in another one.
  std::vector<LockRange> held_in(const Key& key, const ClientLife& life) const;
  void hold(const Key& key, std::vector<LockRange> ranges);
  bool owes(const std::string& address) const;

  // Since when every client could come back; now, while the gate is closed.
  std::int64_t serving_since_ns() const;
  // Records what is late of them, kLocksAtOnce in a transaction. Takes order_mutex_ for each.
  Status write_all(const std::vector<Key>& keys);
  // Has leave_them() called under mutex_, and records what it has left.
  Status forget_nfs4_client(const std::string& client, std::string_view why,
                            const std::function<std::vector<Key>()>& leave_them);
  void run();

  kv::Session& session_;
  const env::Clock& clock_;
  const FsId fs_;
  const std::string vnfs_;
  Membership* const membership_;
  const Gate* const gate_;
  const std::int64_t unclaimed_ns_;  // how long NFSv4 locks stand unclaimed
  const std::int64_t loaded_ns_;

  FifoMutex order_mutex_;                         // one transaction at a time
  std::map<Key, Revision> mod_revision_;          // of the records; guarded by order_mutex_
  ForeignLocks foreign_;                          // guarded by order_mutex_
  std::int64_t alone_since_ns_;                   // guarded by order_mutex_
  std::map<std::string, std::int64_t> asked_ns_;  // by lock key; guarded by order_mutex_
  std::map<std::string, Unserved> unserved_;      // by VNFS; guarded by order_mutex_

  mutable std::mutex mutex_;  // guards the rest
  LockTable table_;
  std::map<Key, Kept> kept_;                      // of those that hold something
  std::map<NlmClient, std::size_t> nlm_clients_;  // on how many keys they hold something
  LockTable unclaimed_;  // NFSv4: loaded, and its owner has not come back for it
  NlmLives lives_;
  // (address, name) of NLM clients without locks of lives before that one.
  std::map<std::pair<std::string, std::string>, std::int32_t> without_former_;
  std::set<Key> late_;     // the store still says more than the table
  std::set<Key> writing_;  // were late; their transaction is under way
  bool stop_ = false;
  std::condition_variable wake_;
  std::thread thread_;  // records what is late
};

}  // namespace symnas::fs
