// Life: one instance as its NFS clients see it, in front of the real mount: what ganesha keeps in
// memory (who waits for a lock, earlier answers, NFSv4 clients), what the plugin does for a lock
// (fsal_cluster/plugin/lock.cc), and the real parts of the status monitor. Nothing of it outlives
// the process.
//
// Thread class: for threads of the instance's process; functions that say so are for other threads.
// Invariant, as in ganesha: one lock operation at a time runs on a file (st_lock).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fsal_cluster/mount/mount.h"
#include "fsal_cluster/nsm/reboots.h"
#include "fsal_cluster/state/lock_table.h"
#include "fsal_cluster/state/lock_waits.h"
#include "tests/sim/mount_world.h"
#include "tests/sim/moves/nfs4_clients.h"

namespace symnas::sim {

enum class CallStatus {
  kGranted,
  kDenied,
  kBlocked,        // NLM: the client will be called back
  kDelay,          // not done; the client asks again with a new call
  kUnknownClient,  // NFSv4: STALE_CLIENTID, BADSESSION
  kBadStateid,     // NFSv4
  kOldStateid,     // NFSv4
  kOk,
  kExists,
  kNoEntry,
};

struct LockCall {
  fs::LockOwner owner;
  std::size_t file = 0;
  fs::LockRange range;
  bool reclaim = false;
  std::int32_t nsm_state = 0;
  std::string verifier;  // NFSv4
};
std::string verifier_of(std::uint64_t verifier);
bool mount_is_over(const Error& error);

// Calls the client back, on a thread of the clients; returns whether the client takes the lock.
using Granted = std::function<bool()>;

class Life {
 public:
  Life(MountWorld& world, std::uint64_t epoch, fs::Mount& mount, std::vector<fs::Handle> files);

  std::uint64_t epoch() const { return epoch_; }
  fs::Mount& mount() { return mount_; }
  const fs::Handle& file(std::size_t file) const { return files_[file]; }
  Nfs4Clients& nfs4() { return nfs4_; }

  // --- a call may be sent several times: it is done once, and answered from memory afterwards.
  // `answered` is called when the answer may leave the instance, and never when it may not.
  using Key = std::pair<unsigned, std::uint64_t>;  // client, xid
  using Body = std::function<std::optional<CallStatus>(Life&)>;
  void serve(const Key& key, const Body& body, const std::function<void(CallStatus)>& answered);

  // Holds ganesha's st_lock of a file while it exists.
  class FileTurn {
   public:
    FileTurn(Life& life, std::size_t file);
    ~FileTurn();
    FileTurn(const FileTurn&) = delete;
    FileTurn& operator=(const FileTurn&) = delete;

   private:
    Life& life_;
    const std::size_t file_;
  };
  // --- locks of any protocol. nullopt: the mount has ended, there is no answer. REQUIRES: the
  // file's turn.
  std::optional<CallStatus> locked(const LockCall& call);
  std::optional<CallStatus> unlocked(const LockCall& call);

  // --- without a particular protocol. `holder`: who holds the conflicting lock.
  std::optional<CallStatus> lock(const LockCall& call);
  std::optional<CallStatus> unlock(const LockCall& call);
  std::optional<CallStatus> test(const LockCall& call, fs::LockOwner* holder = nullptr);

  // --- NLM. A call that is answered BLOCKED is tried again by poll(); `wait` calls the client
  // back.
  std::optional<CallStatus> nlm_lock(const LockCall& call, const Granted& wait);
  std::optional<CallStatus> nlm_unlock(const LockCall& call);
  std::optional<CallStatus> nlm_cancel(const LockCall& call);
  // `but_state`: for SM_NOTIFY the life that the client has now; nullopt for FREE_ALL. kDelay: it
  // is obeyed, but not recorded.
  std::optional<CallStatus> forget_nlm_client(const std::string& address,
                                              std::optional<std::int32_t> but_state);
  // Tries the call that waits at this index. False: there are not so many.
  bool poll(std::size_t index);
  bool anybody_waits() const { return !waiters_.empty(); }
  // Who waited when an earlier instance ended waits on; `client` gives the callback of a client.
  void bring_back_waiters(const std::function<Granted(const LockCall&)>& client);

  // --- NSM. SM_NOTIFY of a client in a new life; `answered` as above.
  void sm_notify(const std::string& address, std::int32_t state,
                 const std::function<void()>& answered);

 private:
  struct Waiter {
    LockCall call;
    Granted wait;
    std::uint64_t cookie = 0;
    std::vector<fs::LockRange> held_before{};  // by its owner when it was granted
  };

  Ino ino(std::size_t file) const { return files_[file].ino; }
  void call_back(const Waiter& waiter);
  void grant_answered(std::uint64_t cookie, bool wanted);
  // As ganesha patch 0031: what the owner held before the grant stays.
  void take_back(const Waiter& grant);
  fs::LockWait wait_of(const LockCall& call) const;
  void end_wait(const LockCall& call);
  void drop_former_waits(const LockCall& call);
  // Drops cookies of grants that the client knows by now.
  void settle_grants(const LockCall& call);

  MountWorld& world_;
  const std::uint64_t epoch_;
  fs::Mount& mount_;
  const std::vector<fs::Handle> files_;
  std::map<Key, std::optional<CallStatus>> replies_;  // nullopt: being worked on
  std::vector<bool> busy_;                            // by file
  std::vector<Waiter> waiters_;
  std::vector<Waiter> grants_;  // called back, answer still to come
  std::uint64_t last_cookie_ = 0;
  nsm::Reboots reboots_;
  Nfs4Clients nfs4_;
};

}  // namespace symnas::sim
