#include "tests/sim/moves/nfs4_clients.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fsal_cluster/state/file_locks.h"
#include "fsal_cluster/state/share_modes.h"
#include "tests/sim/moves/life.h"
#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kLeaseNs = 20'000'000'000;
constexpr std::uint64_t kNoLife = UINT64_MAX;  // neither life is served

}  // namespace

// --- clients

// As patch 0023: what the client has recorded in another life is released before the answer. One
// confirmation at a time (cr_mutex); the confirmation of a life that has been replaced comes too
// late.
std::optional<CallStatus> Nfs4Clients::establish(const Who& who) {
  wait_until(&clients_, "its confirmation", [&] { return !clients_[who.name].confirming; });
  Client& client = clients_[who.name];
  if (who.verifier < client.newest) return CallStatus::kUnknownClient;
  client.newest = who.verifier;
  client.confirming = true;
  const bool over = !confirm(who, client);
  client.confirming = false;
  wake(&clients_);
  if (over) return std::nullopt;
  return CallStatus::kOk;
}

bool Nfs4Clients::confirm(const Who& who, Client& client) {
  if (client.verifier != 0 && client.verifier != who.verifier) {
    client.verifier = kNoLife;
    if (!drop_state(who.name)) return false;
  }
  const Status forgotten =
      life_.mount().locks().forget_former_lives(who.name, verifier_of(who.verifier));
  if (!forgotten && mount_is_over(forgotten.error())) return false;
  client.verifier = who.verifier;
  client.renewed_ns = now_ns();
  return true;
}

std::optional<CallStatus> Nfs4Clients::serve(const Who& who, const Operation& operation) {
  const auto found = clients_.find(who.name);
  if (found == clients_.end() || found->second.verifier != who.verifier)
    return CallStatus::kUnknownClient;
  Client& client = found->second;
  client.renewed_ns = now_ns();
  ++client.running;
  const auto answer = operation();
  --client.running;
  wake(&clients_);
  return answer;
}

std::optional<CallStatus> Nfs4Clients::renew(const Who& who) {
  return serve(who, [] { return CallStatus::kOk; });
}

// As patch 0045.
std::optional<CallStatus> Nfs4Clients::reclaim_complete(const Who& who) {
  return serve(who, [&]() -> std::optional<CallStatus> {
    const Status forgotten = life_.mount().locks().forget_unclaimed(who.name);
    if (!forgotten && mount_is_over(forgotten.error())) return std::nullopt;
    return CallStatus::kOk;
  });
}

bool Nfs4Clients::drop_state(const std::string& name) {
  wait_until(&clients_, "operations of a client", [&] { return clients_[name].running == 0; });
  std::vector<std::pair<std::uint64_t, std::size_t>> its;
  for (const auto& [number, open] : opens_)
    if (open.client == name) its.emplace_back(number, open.file);
  for (const auto& [number, file] : its) {
    const Life::FileTurn turn(life_, file);
    if (opens_.contains(number) && !end(number)) return false;
  }
  return true;
}

void Nfs4Clients::reap(const std::set<std::string>& dead) {
  for (const std::string& name : dead) {
    const auto found = clients_.find(name);
    if (found == clients_.end() || now_ns() - found->second.renewed_ns < kLeaseNs) continue;
    if (found->second.confirming) continue;
    found->second.verifier = kNoLife;
    if (!drop_state(name)) return;
    clients_.erase(name);
  }
}

bool Nfs4Clients::knows_any_of(const std::set<std::string>& dead) const {
  return std::any_of(dead.begin(), dead.end(),
                     [this](const std::string& name) { return clients_.contains(name); });
}

// --- opens

Nfs4Clients::Open* Nfs4Clients::find(Stateid stateid) {
  const auto found = opens_.find(stateid.open);
  return found == opens_.end() ? nullptr : &found->second;
}

std::uint64_t Nfs4Clients::number_of(const Who& who, const OpenCall& call) const {
  for (const auto& [number, open] : opens_)
    if (open.client == who.name && open.file == call.file && open.owner == call.owner)
      return number;
  return 0;
}

// Stands for ganesha's own counters of the object.
bool Nfs4Clients::conflicts_here(std::uint64_t number, fs::ShareMode mode) const {
  const std::size_t file = opens_.at(number).file;
  return std::any_of(opens_.begin(), opens_.end(), [&](const auto& other) {
    return other.first != number && other.second.file == file &&
           fs::conflict(other.second.mode, mode);
  });
}

std::optional<CallStatus> Nfs4Clients::share(std::size_t file, fs::ShareMode before,
                                             fs::ShareMode after, bool reclaim) {
  const auto answer = life_.mount().share(life_.file(file), before, after, reclaim);
  if (!answer) {
    trace("open: %s", answer.error().message.c_str());
    if (mount_is_over(answer.error())) return std::nullopt;
    return CallStatus::kDelay;
  }
  switch (*answer) {
    case fs::ShareAnswer::kGranted: return CallStatus::kGranted;
    case fs::ShareAnswer::kDenied: return CallStatus::kDenied;
    case fs::ShareAnswer::kLater: return CallStatus::kDelay;
  }
  return CallStatus::kDelay;
}

// The open is counted here before the mount is asked, as take_share() does.
std::optional<CallStatus> Nfs4Clients::change(std::uint64_t number, fs::ShareMode mode,
                                              bool reclaim, Stateid& given) {
  Open& open = opens_.at(number);
  if (conflicts_here(number, mode)) return CallStatus::kDenied;
  const fs::ShareMode before = std::exchange(open.mode, mode);
  const auto answer = share(open.file, before, mode, reclaim);
  if (answer == CallStatus::kGranted) {
    given = {number, ++open.seqid};
  } else {
    open.mode = before;
  }
  return answer;
}

std::optional<CallStatus> Nfs4Clients::open(const Who& who, const OpenCall& call, Stateid& given) {
  return serve(who, [&]() -> std::optional<CallStatus> {
    if (number_of(who, call) == 0 && !call.reclaim && below(6) == 0)
      return open_by_name(who, call, given);
    const Life::FileTurn turn(life_, call.file);
    const std::uint64_t number = number_of(who, call);
    if (number == 0) return open_anew(who, call, given);
    return change(number, opens_.at(number).mode | call.mode, call.reclaim, given);
  });
}

std::uint64_t Nfs4Clients::add(const Who& who, const OpenCall& call) {
  const std::uint64_t number = (life_.epoch() << 32U) + ++last_open_;
  opens_[number] = {.client = who.name, .file = call.file, .owner = call.owner};
  return number;
}

std::optional<CallStatus> Nfs4Clients::open_anew(const Who& who, const OpenCall& call,
                                                 Stateid& given) {
  const std::uint64_t number = add(who, call);
  const auto answer = change(number, call.mode, call.reclaim, given);
  if (answer && *answer != CallStatus::kGranted) opens_.erase(number);
  return answer;
}

// As a create that finds that somebody else has just made the file: until the file is open, it has
// no st_lock, and an object of its own with its own counters.
std::optional<CallStatus> Nfs4Clients::open_by_name(const Who& who, const OpenCall& call,
                                                    Stateid& given) {
  const auto answer = share(call.file, {}, call.mode, false);
  if (answer != CallStatus::kGranted) return answer;
  const Life::FileTurn turn(life_, call.file);
  const std::uint64_t number = add(who, call);
  opens_[number].mode = call.mode;
  if (conflicts_here(number, call.mode)) fail("two opens of one instance conflict");
  given = {number, ++opens_[number].seqid};
  return answer;
}

std::optional<CallStatus> Nfs4Clients::downgrade(const Who& who, Stateid stateid,
                                                 fs::ShareMode mode, Stateid& given) {
  return serve(who, [&]() -> std::optional<CallStatus> {
    if (find(stateid) == nullptr) return CallStatus::kBadStateid;
    const Life::FileTurn turn(life_, find(stateid)->file);
    const Open* const open = find(stateid);
    if (open == nullptr) return CallStatus::kBadStateid;
    if (open->seqid != stateid.seqid) return CallStatus::kOldStateid;
    if (!fs::contains(open->mode, mode)) fail("an OPEN_DOWNGRADE to more");
    return change(stateid.open, mode, false, given);
  });
}

std::optional<CallStatus> Nfs4Clients::close(const Who& who, Stateid stateid) {
  return serve(who, [&]() -> std::optional<CallStatus> {
    if (find(stateid) == nullptr) return CallStatus::kBadStateid;
    const Life::FileTurn turn(life_, find(stateid)->file);
    if (find(stateid) == nullptr) return CallStatus::kBadStateid;
    if (find(stateid)->seqid != stateid.seqid) return CallStatus::kOldStateid;
    if (!end(stateid.open)) return std::nullopt;
    return CallStatus::kOk;
  });
}

// Releases the locks under the open first, then the open itself.
bool Nfs4Clients::end(std::uint64_t number) {
  const Open open = opens_.at(number);
  for (const fs::LockOwner& owner : open.lockers) {
    LockCall everything;
    everything.owner = owner;
    everything.file = open.file;
    everything.range = fs::kWholeFile;
    if (!life_.unlocked(everything)) return false;
  }
  opens_.at(number).mode = {};
  const bool given_back = share(open.file, open.mode, {}, false).has_value();
  opens_.erase(number);
  return given_back;
}

std::optional<CallStatus> Nfs4Clients::try_open(std::size_t file, fs::ShareMode mode) {
  const Life::FileTurn turn(life_, file);
  Stateid stateid;
  const auto answer = open_anew({"prober", 1}, {.file = file, .mode = mode}, stateid);
  if (answer == CallStatus::kGranted && !end(stateid.open)) return std::nullopt;
  return answer;
}

// --- locks

std::optional<CallStatus> Nfs4Clients::lock(const Who& who, Stateid stateid, const LockCall& call) {
  return serve(who, [&]() -> std::optional<CallStatus> {
    const Life::FileTurn turn(life_, call.file);
    Open* const open = find(stateid);
    if (open == nullptr) return CallStatus::kBadStateid;
    open->lockers.insert(call.owner);
    return life_.locked(call);
  });
}

// An unlock that is not recorded is answered as done (plugin/lock.cc).
std::optional<CallStatus> Nfs4Clients::unlock(const Who& who, Stateid stateid,
                                              const LockCall& call) {
  return serve(who, [&]() -> std::optional<CallStatus> {
    const Life::FileTurn turn(life_, call.file);
    const Open* const open = find(stateid);
    if (open == nullptr) return CallStatus::kBadStateid;
    if (!open->lockers.contains(call.owner)) return CallStatus::kOk;
    const auto answer = life_.unlocked(call);
    return answer == CallStatus::kDelay ? CallStatus::kGranted : answer;
  });
}

}  // namespace symnas::sim
