// Nfs4Clients: what ganesha keeps of the NFSv4 clients of one instance: the life in which each is
// known, its opens with the lock owners under each, its lease; and what the plugin does for an open
// (fsal_cluster/plugin/open.cc).
//
// Thread class: for threads of the instance's process; knows_any_of() for others.
// Invariant, as in ganesha (patch 0047): the effect of a request on an open is decided under the
// file's st_lock, by the stateid in the request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "fsal_cluster/state/lock_table.h"
#include "fsal_cluster/types/share_mode.h"

namespace symnas::sim {

class Life;
enum class CallStatus;
struct LockCall;

// An open at one instance. No other open, at this or another instance, has its number.
struct Stateid {
  std::uint64_t open = 0;
  std::uint32_t seqid = 0;  // grows with each OPEN and OPEN_DOWNGRADE
};

class Nfs4Clients {
 public:
  // REQUIRES: `life` outlives it.
  explicit Nfs4Clients(Life& life) : life_(life) {}

  // co_ownerid and verifier.
  struct Who {
    std::string name;
    std::uint64_t verifier = 0;
  };
  struct OpenCall {
    std::size_t file = 0;
    unsigned owner = 0;
    fs::ShareMode mode;
    bool reclaim = false;
  };

  // For all of them: nullopt: the mount has ended, there is no answer. kUnknownClient (except for
  // establish()): this life of the client is not known here. kBadStateid: there is no such open.
  std::optional<CallStatus> establish(const Who& who);
  std::optional<CallStatus> renew(const Who& who);
  std::optional<CallStatus> reclaim_complete(const Who& who);  // v4.1
  // When the owner has the file open already, the modes are added. `given`: set when it is granted.
  std::optional<CallStatus> open(const Who& who, const OpenCall& call, Stateid& given);
  // kOldStateid: the file was opened again meanwhile. `given`: set by downgrade when it is done.
  std::optional<CallStatus> downgrade(const Who& who, Stateid stateid, fs::ShareMode mode,
                                      Stateid& given);
  std::optional<CallStatus> close(const Who& who, Stateid stateid);
  // Under an open, whatever the seqid of the stateid.
  std::optional<CallStatus> lock(const Who& who, Stateid stateid, const LockCall& call);
  // No effect for an owner that has locked nothing here: its client has no stateid for that.
  std::optional<CallStatus> unlock(const Who& who, Stateid stateid, const LockCall& call);

  // Whether anybody could open the file with this mode; nothing stays open.
  std::optional<CallStatus> try_open(std::size_t file, fs::ShareMode mode);

  // The leases of dead clients end.
  void reap(const std::set<std::string>& dead);
  bool knows_any_of(const std::set<std::string>& dead) const;

 private:
  struct Client {
    std::uint64_t verifier = 0;  // 0: not known yet
    std::uint64_t newest = 0;    // the newest one ever seen: lives are numbered
    std::int64_t renewed_ns = 0;
    int running = 0;
    bool confirming = false;
  };
  struct Open {
    std::string client;
    std::size_t file = 0;
    unsigned owner = 0;
    fs::ShareMode mode;
    std::uint32_t seqid = 0;
    std::set<fs::LockOwner> lockers;
  };
  using Operation = std::function<std::optional<CallStatus>()>;

  // False: the mount has ended.
  bool confirm(const Who& who, Client& client);
  std::optional<CallStatus> serve(const Who& who, const Operation& operation);
  std::uint64_t add(const Who& who, const OpenCall& call);
  std::optional<CallStatus> open_by_name(const Who& who, const OpenCall& call, Stateid& given);
  // REQUIRES for both: the file's turn. When granted, the file is open with this mode, and has the
  // next stateid.
  std::optional<CallStatus> open_anew(const Who& who, const OpenCall& call, Stateid& given);
  std::optional<CallStatus> change(std::uint64_t number, fs::ShareMode mode, bool reclaim,
                                   Stateid& given);
  std::optional<CallStatus> share(std::size_t file, fs::ShareMode before, fs::ShareMode after,
                                  bool reclaim);
  // REQUIRES: the file's turn. False: the mount has ended.
  bool end(std::uint64_t number);
  // As end(), for everything that the client has here. The client's entry may be gone afterwards.
  bool drop_state(const std::string& name);
  std::uint64_t number_of(const Who& who, const OpenCall& call) const;  // 0: no such open
  bool conflicts_here(std::uint64_t number, fs::ShareMode mode) const;
  Open* find(Stateid stateid);

  Life& life_;
  std::map<std::string, Client> clients_;
  std::map<std::uint64_t, Open> opens_;  // by Stateid::open
  std::uint64_t last_open_ = 0;
};

}  // namespace symnas::sim
