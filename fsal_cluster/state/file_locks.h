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
// changed since. Locks: order_mutex_ (held across transactions) -> mutex_ (short).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/env/clock.h"
#include "common/kv/session.h"
#include "fsal_cluster/state/foreign_locks.h"
#include "fsal_cluster/state/lock_table.h"
#include "fsal_cluster/state/membership.h"
#include "fsal_cluster/state/nlm_client.h"

namespace symnas::fs {

// How long the records of an NFSv4 client that has not come back stand against others: two NFS
// leases of continuous service (DESIGN 5.5). NLM has no lease: its records never expire.
inline constexpr std::int64_t kUnclaimedNfs4LockNs = 40'000'000'000;  // 2 x Lease_Lifetime of 20 s

// Pause before an unlock that could not be recorded (quota, queue full) is tried again.
inline constexpr std::int64_t kLateUnlockRetryMs = 500;

class FileLocks {
 public:
  // Loads every recorded lock. Blocks. Errors: those of Session::range, kCorrupt.
  // `membership` outlives it; null: alone for ever.
  static Result<std::unique_ptr<FileLocks>> load(kv::Session& session, const env::Clock& clock,
                                                 FsId fs, std::string vnfs,
                                                 Membership* membership = nullptr);
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
  // `nsm_state`: in which of its lives an NLM client locks; it is recorded. 0: not told, as by
  // reclaims and NFSv4.
  Result<Answer> lock(Ino ino, const LockOwner& owner, const LockRange& range, bool is_reclaim,
                      std::int32_t nsm_state = 0);
  // Unlocks, also when it answers an error: the server in front of us has forgotten the range
  // already, nobody would ask again. The record follows later then. kNow waits for the record,
  // kLater for nothing. Errors: those of Session::commit.
  enum class Record { kNow, kLater };
  Status unlock(Ino ino, const LockOwner& owner, std::uint64_t start, std::uint64_t end,
                Record when);
  // The NLM client at `address` has lost its locks: unlocks all of them but those of its life
  // `but_state`. Nothing is asked when it has none. Errors: as unlock().
  Status forget_nlm_client(const std::string& address, std::optional<std::int32_t> but_state);
  // Whose NLM locks are recorded under this VNFS.
  std::set<NlmClient> nlm_clients() const;
  // Whether any of them is at `address`. Cheap: whoever likes may ask.
  bool has_nlm_client(const std::string& address) const;
  // Records what is late. Errors: those of Session::commit; the rest stays late.
  Status record_unlocks();
  Answer test(Ino ino, const LockOwner& owner, const LockRange& range);
  // Loads what owners of other VNFSs have recorded, before this mount turns sole. Blocks. Errors:
  // as load().
  Status turning_sole();

  std::size_t size() const;

 private:
  FileLocks(kv::Session& session, const env::Clock& clock, FsId fs, std::string vnfs,
            Membership* membership);
  using Key = std::pair<Ino, LockOwner>;

  // REQUIRES for all: order_mutex_ is held.
  std::optional<LockConflict> standing_conflict(Ino ino, const LockOwner& owner,
                                                const LockRange& range);
  Status revoke_client(const LockOwner& holder);
  // A stay, and nullopt when nobody else can record anything.
  std::optional<Membership::Stay> enter() const;
  // What is recorded of the inode now. The compare holds until something is added to it or changed.
  // Errors: Session::range, kCorrupt.
  Result<kv::Compare> look(Ino ino);
  // Of owners of other VNFSs, as known. Alone, those that stay away too long are revoked.
  std::optional<LockConflict> foreign_conflict(Ino ino, const LockRange& range,
                                               const Membership::Stay* stay);
  // Writes these ranges of one owner, nothing else changes. The key is not late afterwards.
  // Errors: kConflict (a compare did not hold), Session::commit.
  Status write(const Key& key, const std::vector<LockRange>& ranges, std::int32_t nsm_state,
               std::optional<kv::Compare> unchanged = std::nullopt);
  Result<std::optional<LockConflict>> try_lock(const Key& key, const LockRange& range,
                                               std::int32_t nsm_state);
  Status write_late(const Key& key);
  Status write_late_of(Ino ino);
  Result<Revision> stored_revision(const std::string& store_key);

  // REQUIRES: mutex_ is held.
  bool revocable(const Key& key) const;
  std::int32_t nsm_state_of(const Key& key) const;
  void hold(const Key& key, std::vector<LockRange> ranges);
  void run();

  kv::Session& session_;
  const env::Clock& clock_;
  const FsId fs_;
  const std::string vnfs_;
  Membership* const membership_;
  const std::int64_t loaded_ns_;

  std::mutex order_mutex_;                // one transaction at a time
  std::map<Key, Revision> mod_revision_;  // of the records; guarded by order_mutex_
  ForeignLocks foreign_;                  // guarded by order_mutex_
  std::int64_t alone_since_ns_;           // guarded by order_mutex_

  mutable std::mutex mutex_;  // guards the rest
  LockTable table_;
  std::map<Key, std::int32_t> nsm_state_;         // of those that told one
  std::map<NlmClient, std::size_t> nlm_clients_;  // on how many keys they hold something
  std::set<Key> unclaimed_;                       // loaded, and its owner has not come back yet
  std::set<Key> late_;                            // the store still says more than the table
  bool stop_ = false;
  std::condition_variable wake_;
  std::thread thread_;  // records what is late
};

}  // namespace symnas::fs
