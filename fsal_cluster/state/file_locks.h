// FileLocks: byte-range locks that outlive the process. A lock is answered GRANTED only after its
// record is in the store, and a recorded lock is a held lock (INV-7): after a crash the records
// stand until their owner unlocks, returns or is revoked.
//
// Thread class: thread-safe; calls block until the outcome of their transaction is known, except
// unlock(kLater). Invariants: the store never says less than the table (HeldLocks). An unlock may
// be recorded late (LateUnlocks; a thread tries until it is), a lock never. No record is written
// that conflicts with another one in the store: late unlocks of an inode are written before a lock
// of it. A VNFS has one mount of a filesystem, so the table in memory, loaded at mount, has
// everything that the VNFS's owners hold. Owners of other VNFSs conflict, too. A sole mount decides
// by what it has loaded of them. Beside other mounts each decision reads what is recorded of the
// inode, and its transaction compares that nothing of it has changed since. Locks: a turn of the
// inode (LockTurns; held across transactions) -> mutex_ (short).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/loop.h"
#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "common/env/clock.h"
#include "common/kv/session.h"
#include "fsal_cluster/state/foreign_locks.h"
#include "fsal_cluster/state/foreign_waits.h"
#include "fsal_cluster/state/gate.h"
#include "fsal_cluster/state/held_locks.h"
#include "fsal_cluster/state/late_unlocks.h"
#include "fsal_cluster/state/lock_recorder.h"
#include "fsal_cluster/state/lock_table.h"
#include "fsal_cluster/state/lock_turns.h"
#include "fsal_cluster/state/lock_waits.h"
#include "fsal_cluster/state/membership.h"
#include "fsal_cluster/state/nlm_client.h"
#include "fsal_cluster/state/nlm_lives.h"

namespace symnas::fs {

// NFSv4 leases of continuous service after which the records of a client that has not come back no
// longer stand against others (docs/design.md 5.5). NLM has no lease: its records never expire.
inline constexpr std::int64_t kUnclaimedLeases = 2;
inline constexpr std::int64_t kUsualLeaseS = 20;

// Least time between two questions to another VNFS's instance whether the client of one lock there
// is away.
inline constexpr std::int64_t kAskAgainNs = 5'000'000'000;

// Pause before the next try to record an unlock (quota, queue full).
inline constexpr std::int64_t kLateUnlockRetryMs = 500;

class FileLocks {
 public:
  // Loads every recorded lock. Blocks. `membership`, `gate` and `foreign_waits` outlive it; null:
  // always alone, always open, nobody waits. `lease_s`: of NFSv4. Errors: those of Session::range,
  // kCorrupt.
  static Result<std::unique_ptr<FileLocks>> load(kv::Session& session, const env::Clock& clock,
                                                 FsId fs, std::string vnfs,
                                                 Membership* membership = nullptr,
                                                 const Gate* gate = nullptr,
                                                 std::int64_t lease_s = kUsualLeaseS,
                                                 ForeignWaits* foreign_waits = nullptr);

  // Outcome of a lock request.
  struct LockOutcome {
    bool granted = false;
    LockConflict conflict;  // when not granted
  };

  // Locks `range`, replacing what the owner held there. A reclaim is granted only when the records
  // say that the owner holds all of it (RFC 8881 8.4.3: otherwise another owner may have held it in
  // between); a reclaim of what is recorded writes nothing. Its mode may differ from the recorded
  // one, when a change of mode was not answered: a stronger recorded mode stays, a weaker one is
  // changed as by any other lock. `life`: the life in which the client locks. The life is recorded,
  // and with it the ranges of the file that the owner has locked in a former life are dropped. A
  // reclaim changes no life. A lock that an NLM client asked for in a life before the recorded one
  // is denied. Errors: those of Session, kConflict; kInvalidArgument: the life is over
  // (note_nlm_life); kTooLarge: the owner would hold more than kLockRangesMax ranges of the file.
  Result<LockOutcome> lock(Ino ino, const LockOwner& owner, const LockRange& range, bool is_reclaim,
                           const ClientLife& life = {});
  // Unlocks, even when it answers an error: the server in front of the mount has forgotten the
  // range already. Then the record follows later, or with the next UNLOCK of the owner. kNow waits
  // for the record (also for those of waits of the owner that have ended), kLater for nothing.
  // Errors: those of Session::commit. When the owner holds
  // kLockRangesHeldMax ranges of the file, only whole ranges are unlocked: a part of a range stays
  // locked.
  enum class Record { kNow, kLater };
  Status unlock(Ino ino, const LockOwner& owner, std::uint64_t start, std::uint64_t end,
                Record when);
  // The NLM client at `address` lives as `state` from now on: requests from its former lives are
  // refused, wherever they are on their way. Never blocks for a transaction.
  void note_nlm_life(const std::string& address, std::int32_t state);
  // The NLM client at `address` has lost its locks. Unlocks all of them, except those of its life
  // `but_state` and of later ones; includes LOCKs that are under way, and unlocks that could not be
  // recorded before. Waits for the transaction under way. Errors: as unlock().
  Status forget_nlm_client(const std::string& address, std::optional<std::int32_t> but_state);
  // The NFSv4 client lives now as `verifier` says: unlocks what it locked in other lives. Errors:
  // as unlock().
  Status forget_former_lives(const std::string& client, const std::string& verifier);
  // The NFSv4 client has reclaimed everything that it holds (RECLAIM_COMPLETE, RFC 8881 18.51).
  // Unlocks what it was recorded to hold and has neither reclaimed nor locked again since the load.
  // Errors: as unlock().
  Status forget_unclaimed(const std::string& client);
  // An owner of another VNFS wants `wanted`. Revokes the client of `owner` if it has been away for
  // too long (kUnclaimedLeases) from something in `wanted`. Errors: those of LockRecorder::write.
  Status revoke_if_away(Ino ino, const LockOwner& owner, const LockRange& wanted);
  // Whether the owner's record still has that revision.
  bool is_recorded_as(Ino ino, const LockOwner& owner, Revision revision);
  // The NLM clients that have locks recorded under this VNFS.
  std::set<NlmClient> nlm_clients() const;
  // Whether an NLM client at `address` has locks, locks at this moment, or has late unlocks. Cheap:
  // any sender may cause this question.
  bool has_nlm_client(const std::string& address) const;
  // Whether an NLM client that locks as `state` now still has locks of former lives here: then its
  // notice was lost. A client is an address and a name, through whatever VIP. Cheap, except the
  // first question of a life.
  bool has_outlived_locks(const LockOwner& owner, std::int32_t state);
  // Whether unlocks of the NLM client at `address` are not recorded yet.
  bool owes_unlocks_of(const std::string& address) const;
  // Records late unlocks. Errors: those of Session::commit; the rest stays late.
  Status record_unlocks();
  LockOutcome test(Ino ino, const LockOwner& owner, const LockRange& range);
  // Loads what owners of other VNFSs have recorded, before this mount becomes sole. Blocks. Errors:
  // as load().
  Status turning_sole();

  // Somebody waits for a lock. Returns when that is recorded, or cannot be: then the next instance
  // does not know it, and its client has to ask again. For a wait that was left() the record
  // stands.
  void begin_wait(const LockWait& wait);
  // It has got the lock, or waits no more. Never blocks: the record is erased later.
  void end_wait(const LockWait& wait);
  // Who waited when an earlier instance ended, in the order of waiting, and neither waits here by
  // now (begin_wait), nor has got its lock, nor was forgotten.
  std::vector<LockWait> left_waits() const;
  // Whether it still is one of these. Ask just before acting on one.
  bool is_left(const LockWait& wait) const;
  // end_wait(), unless it is none of these any more: then whoever has it now ends it.
  void end_left(const LockWait& wait);
  // Nobody comes for what is left any more.
  void forget_left_waits();
  // `called` runs whenever somebody who waits here for what others held is told that it is free. It
  // may not block. REQUIRES: called at most once.
  void on_called(std::function<void()> called);
  // What the owner is recorded to hold of the inode; nothing, when an NLM client did in another
  // life than `nsm_state`. Cheap.
  std::vector<LockRange> held_by(Ino ino, const LockOwner& owner, std::int32_t nsm_state) const;

  // For tests: how many pairs of inode and owner hold something.
  std::size_t size() const;

 private:
  FileLocks(kv::Session& session, const env::Clock& clock, FsId fs, std::string vnfs,
            Membership* membership, const Gate* gate, std::int64_t lease_s,
            ForeignWaits* foreign_waits);
  using Key = LockTable::Key;
  class UnderWay;

  std::optional<LockConflict> standing_conflict(Ino ino, const LockOwner& owner,
                                                const LockRange& range) REQUIRES(turns_);
  void revoke_client(const LockOwner& holder) REQUIRES(turns_);
  // A stay; nullopt when there never is another mount.
  std::optional<Membership::Stay> enter() const REQUIRES(turns_);
  // Reads what is recorded of the inode now. The compare holds until something is added to it or
  // changed. Errors: Session::range, kCorrupt.
  Result<kv::Compare> look(Ino ino) REQUIRES(turns_);
  // A conflict with known records of other VNFSs' owners. A sole mount revokes owners that stay
  // away too long.
  std::optional<LockConflict> foreign_conflict(Ino ino, const LockRange& range,
                                               const Membership::Stay* stay) REQUIRES(turns_);
  // Beside other mounts, at most every kAskAgainNs: asks the VNFS's instance to look whether the
  // client of `lock` is away. True: the VNFS was without an instance for too long, and the client's
  // locks are taken.
  bool ask_for(const ForeignLock& lock, const LockRange& wanted) REQUIRES(turns_);
  std::optional<ForeignLocks::Conflict> known_conflict(Ino ino, const LockRange& range) const;
  // Whether nobody has asked for that lock for kAskAgainNs; from now on somebody has.
  bool may_ask(const ForeignLock& lock, std::int64_t now_ns);
  void order_look_at(const ForeignLock& lock, const LockRange& wanted) REQUIRES(turns_);
  // Since when no mount serves the VNFS, and the revision of the youngest claim then. nullopt: a
  // mount serves it. Errors: Session::range, kCorrupt.
  struct Unserved {
    Revision claimed;
    std::int64_t since_ns = 0;
  };
  Result<std::optional<Unserved>> unserved(const std::string& vnfs) REQUIRES(turns_);
  // Erases everything that the client of `lock` has recorded through its VNFS, if no mount has been
  // claimed since `claimed` (nullopt: without that condition), and only then forgets it. Errors:
  // kConflict (that condition does not hold, or a record was changed), Session::range and commit.
  Status take_client(const ForeignLock& lock, std::optional<Revision> claimed) REQUIRES(turns_);
  Result<std::optional<LockConflict>> try_lock(const Key& key, const LockRange& range,
                                               const ClientLife& life) REQUIRES(turns_);
  // Records late unlocks: of a key, of keys (at most kLocksAtOnce), of an inode. Errors: those of
  // LockRecorder::write.
  Status write_late(const Key& key) REQUIRES(turns_);
  Status write_late(std::span<const Key> keys) REQUIRES(turns_);
  Status write_late_of(Ino ino) REQUIRES(turns_);

  // Whether the key's client has stayed away for too long from some of the key's locks in `range`.
  bool revocable(const Key& key, const LockRange& range) const REQUIRES(mutex_);
  // From now on the key holds only `ranges`, and its record is late.
  void leave(const Key& key, std::vector<LockRange> ranges) REQUIRES(mutex_);
  // Unlocks what an NFSv4 client was recorded to hold and has not claimed. Returns those keys.
  std::vector<Key> leave_unclaimed(const std::string& client) REQUIRES(mutex_);

  // Somebody who waits through another VNFS for longer, and is to be served first.
  std::optional<LockConflict> older_wait(const Key& key, const LockRange& range) const;
  // The key was granted `range`: it does not wait for it any more.
  void note_granted(const Key& key, const LockRange& range) REQUIRES(mutex_);
  // Something of the inode is free: who waits for it through another VNFS is to be called.
  void note_freed(Ino ino) REQUIRES(mutex_);
  void call_next();
  // Reads the records of waits. Errors: Session::range, kCorrupt.
  Status load_waits();
  // Erases the records of waits that have ended. Errors: Session::commit.
  Status erase_ended_waits();
  // Since when every client could have come back; now, while the gate is closed.
  std::int64_t serving_since_ns() const;
  // Records the late unlocks of these keys, kLocksAtOnce in a transaction. Takes a turn for each
  // transaction, so that others get theirs in between.
  Status write_all(const std::vector<Key>& keys);
  // Calls leave_them() under mutex_, and records the unlocks of the keys that it returns.
  Status forget_nfs4_client(const std::string& client, std::string_view why,
                            const std::function<std::vector<Key>()>& leave_them);
  // Records what is late; returns when to go on.
  std::int64_t record_late();

  kv::Session& session_;
  const env::Clock& clock_;
  const FsId fs_;
  const std::string vnfs_;
  Membership* const membership_;
  const Gate* const gate_;
  ForeignWaits* const foreign_waits_;
  const std::int64_t unclaimed_ns_;  // how long NFSv4 locks stand unclaimed
  const std::int64_t loaded_ns_;

  LockTurns turns_;  // one transaction of an inode at a time
  LockRecorder recorder_;

  mutable Mutex mutex_;
  ForeignLocks foreign_ GUARDED_BY(mutex_);
  std::int64_t alone_since_ns_ GUARDED_BY(mutex_);
  std::map<std::string, std::int64_t> asked_ns_ GUARDED_BY(mutex_);  // by lock key
  std::map<std::string, Unserved> unserved_ GUARDED_BY(mutex_);      // by VNFS
  HeldLocks held_ GUARDED_BY(mutex_);
  NlmLives lives_ GUARDED_BY(mutex_);
  LateUnlocks late_ GUARDED_BY(mutex_);
  LockWaits waits_ GUARDED_BY(mutex_);
  std::set<Ino> freed_ GUARDED_BY(mutex_);  // who waits for it elsewhere is yet to be called
  // Records what is late, erases waits that have ended, calls who waits. Last: it uses all else.
  Loop recording_;
};

}  // namespace symnas::fs
