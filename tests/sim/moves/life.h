// Life: one instance as its NFS clients see it, in front of the real mount: what ganesha keeps in
// memory (who waits for a lock, what has been answered, NFSv4 clients), what the plugin makes of a
// lock (fsal_cluster/plugin/lock.cc), and the real parts of the status monitor. Nothing of it
// outlives the process.
//
// Thread class: for threads of the instance's process; those that say so, for others.
// Invariant, as ganesha's: of one file one lock operation runs at a time (st_lock).
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
#include "fsal_cluster/nsm/notices.h"
#include "fsal_cluster/nsm/reboots.h"
#include "fsal_cluster/state/lock_table.h"
#include "tests/sim/mount_world.h"
#include "tests/sim/moves/nfs4_clients.h"

namespace symnas::sim {

enum class Answer {
  kGranted,
  kDenied,
  kBlocked,        // NLM: will be called back
  kDelay,          // not done; ask again as another call
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

// Called back, on a thread of the clients: whether the client takes it.
using Granted = std::function<bool()>;

class Life {
 public:
  Life(MountWorld& world, std::uint64_t epoch, fs::Mount& mount, std::vector<fs::Handle> files);

  std::uint64_t epoch() const { return epoch_; }
  fs::Mount& mount() { return mount_; }
  const fs::Handle& file(std::size_t file) const { return files_[file]; }
  Nfs4Clients& nfs4() { return nfs4_; }

  // --- a call, as often as it is sent: answered once, the second time from memory. `answered` is
  // called when the answer may leave the instance, and not when it never will.
  using Key = std::pair<unsigned, std::uint64_t>;  // client, xid
  using Body = std::function<std::optional<Answer>(Life&)>;
  void serve(const Key& key, const Body& body, const std::function<void(Answer)>& answered);

  // ganesha's st_lock of a file, while it exists.
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
  // --- locks of any protocol. nullopt: the mount is over, there is no answer. REQUIRES: the file's
  // turn.
  std::optional<Answer> locked(const LockCall& call);
  std::optional<Answer> unlocked(const LockCall& call);

  // --- of nobody in particular. `holder`: who has denied it.
  std::optional<Answer> lock(const LockCall& call);
  std::optional<Answer> unlock(const LockCall& call);
  std::optional<Answer> test(const LockCall& call, fs::LockOwner* holder = nullptr);

  // --- NLM. Who is BLOCKED is tried again by poll() and called back through `wait`.
  std::optional<Answer> nlm_lock(const LockCall& call, const Granted& wait);
  std::optional<Answer> nlm_unlock(const LockCall& call);
  std::optional<Answer> nlm_cancel(const LockCall& call);
  // SM_NOTIFY: `but_state` is the life that the client has now. FREE_ALL: nullopt; kDelay: it is
  // obeyed, but not recorded.
  std::optional<Answer> forget_nlm_client(const std::string& address,
                                          std::optional<std::int32_t> but_state);
  // Tries one that waits. Its index; false: there are not so many.
  bool poll(std::size_t index);
  bool anybody_waits() const { return !waiters_.empty(); }

  // --- NSM. SM_NOTIFY of a client that lives anew; `answered` as above.
  void sm_notify(const std::string& address, std::int32_t state,
                 const std::function<void()>& answered);
  nsm::Notices& notices() { return notices_; }  // for one thread of the world

 private:
  struct Waiter {
    LockCall call;
    Granted wait;
    std::uint64_t cookie = 0;
  };

  Ino ino(std::size_t file) const { return files_[file].ino; }
  void call_back(const Waiter& waiter);
  void grant_answered(std::uint64_t cookie, bool wanted);
  void drop_former_waits(const LockCall& call);
  // Drops cookies of grants that the client knows of by now.
  void settle_grants(const LockCall& call);

  MountWorld& world_;
  const std::uint64_t epoch_;
  fs::Mount& mount_;
  const std::vector<fs::Handle> files_;
  std::map<Key, std::optional<Answer>> replies_;  // nullopt: is being worked on
  std::vector<bool> busy_;                        // by file
  std::vector<Waiter> waiters_;
  std::vector<Waiter> grants_;  // called back, not answered
  std::uint64_t last_cookie_ = 0;
  nsm::Reboots reboots_;
  nsm::Notices notices_;
  Nfs4Clients nfs4_;
};

}  // namespace symnas::sim
