// FileLocks: byte-range locks that outlive the process. A lock is answered GRANTED only after its
// record is in the store, and a recorded lock is a held lock (INV-7): after a crash the records
// stand until their owner unlocks, returns or is revoked.
//
// Thread class: thread-safe; calls block until their transaction is known.
// In this slice a filesystem has one mount, so the table in memory, loaded at mount, decides
// conflicts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/env/clock.h"
#include "common/kv/session.h"
#include "fsal_cluster/state/lock_table.h"

namespace symnas::fs {

// How long the records of an NFSv4 client that has not come back stand against others: two NFS
// leases of continuous service (DESIGN 5.5). NLM has no lease: its records never expire.
inline constexpr std::int64_t kUnclaimedNfs4LockNs = 40'000'000'000;  // 2 x Lease_Lifetime of 20 s

class FileLocks {
 public:
  // Loads every recorded lock. Blocks. Errors: those of Session::range, kCorrupt.
  static Result<std::unique_ptr<FileLocks>> load(kv::Session& session, const env::Clock& clock,
                                                 FsId fs, std::string vnfs);

  // What a lock request came to.
  struct Answer {
    bool granted = false;
    LockConflict conflict;  // when not granted
  };

  // Locks `range`, replacing what the owner held there. A reclaim is granted only when the records
  // say that the owner holds it (RFC 8881 8.4.3: otherwise somebody else may have held it in
  // between); attaching costs no write.
  Result<Answer> lock(Ino ino, const LockOwner& owner, const LockRange& range, bool is_reclaim);
  Status unlock(Ino ino, const LockOwner& owner, std::uint64_t start, std::uint64_t end);
  Answer test(Ino ino, const LockOwner& owner, const LockRange& range);

  std::size_t size() const;

 private:
  FileLocks(kv::Session& session, const env::Clock& clock, FsId fs, std::string vnfs);
  using Key = std::pair<Ino, LockOwner>;

  std::optional<LockConflict> standing_conflict(Ino ino, const LockOwner& owner,
                                                const LockRange& range);
  bool revocable(const Key& key) const;
  // Writes the new ranges of one owner; the mutex is held, so that the order in the store is the
  // table's.
  Status persist(const Key& key, const std::vector<LockRange>& ranges);
  Status revoke_client(const LockOwner& holder);

  kv::Session& session_;
  const env::Clock& clock_;
  const FsId fs_;
  const std::string vnfs_;
  const std::int64_t loaded_ns_;
  mutable std::mutex mutex_;
  LockTable table_;
  std::set<Key> unclaimed_;               // loaded, and its owner has not come back yet
  std::map<Key, Revision> mod_revision_;  // of the records
};

}  // namespace symnas::fs
