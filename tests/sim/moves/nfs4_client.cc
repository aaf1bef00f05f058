#include "tests/sim/moves/nfs4_client.h"

#include <utility>

#include "fsal_cluster/state/file_locks.h"
#include "tests/sim/moves/turn.h"
#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kRenewNs = 4'000 * kNsPerMs;
// After this time without an answer, what the client holds may have been revoked: two leases, on a
// clock that is fast by a tenth, minus the time of a message.
constexpr std::int64_t kSilenceNs = 35'000 * kNsPerMs;

std::string text_of(Span span) {
  return "bytes " + std::to_string(span.first) + "-" + std::to_string(span.last);
}

Span draw_part(Span span) {
  const std::size_t length = span.last - span.first + 1;
  const std::size_t first = span.first + below(length);
  return {first, first + below(span.last - first + 1)};
}

}  // namespace

ModelNfs4Client::ModelNfs4Client(Server& server, Arbiter& arbiter, unsigned number,
                                 std::size_t files)
    : server_(server),
      arbiter_(arbiter),
      number_(number),
      files_(files),
      version_(below(3) == 0 ? Version::kV40 : Version::kV41),
      name_("Linux NFSv4 " + std::to_string(number)),
      contact_ns_(now_ns()) {
  arbiter_.may_lose(number_, [this] { return lease_is_over(); });
}

bool ModelNfs4Client::lease_is_over() const { return now_ns() - contact_ns_ > kSilenceNs; }

LockCall ModelNfs4Client::call_of(const Key& locker, Span span, fs::LockMode mode) const {
  LockCall call;
  call.owner = {fs::LockProtocol::kNfs4, name_,
                "lock owner " + std::to_string(locker.second.owner)};
  call.file = locker.first;
  call.range = range_of(span, mode);
  call.verifier = verifier_of(verifier_);
  return call;
}

// --- its life

std::optional<Server::Reply> ModelNfs4Client::ask(const Request& request) {
  const auto gone = gone_;
  for (;;) {
    const auto body = request();
    if (!body) return std::nullopt;
    const auto reply = server_.call(number_, *body, gone.get());
    if (!reply) return std::nullopt;
    if (reply->answer != CallStatus::kUnknownClient) {
      contact_ns_ = reply->sent_ns;
      return reply;
    }
    if (!establish()) return std::nullopt;
    const bool all = reclaim();
    trace("client %u has reclaimed %s", number_, all ? "everything" : "in vain");
  }
}

bool ModelNfs4Client::establish() {
  const auto gone = gone_;
  return server_
      .call(
          number_, [who = who()](Life& life) { return life.nfs4().establish(who); }, gone.get())
      .has_value();
}

void ModelNfs4Client::run(std::size_t operations) {
  if (!std::exchange(renews_, true)) spawn(current_process(), "renew", [this] { renew(); });
  for (std::size_t i = 0; i < operations && !dead_; ++i) {
    one();
    sleep_ns(up_to_ms(below(6) == 0 ? 4'000 : 100));
  }
}

void ModelNfs4Client::renew() {
  for (;;) {
    sleep_ns(kRenewNs);
    wait_until(&dead_, "its death", [this] { return !dead_; });
    const Turn turn(busy_);
    if (dead_) continue;
    ask([this] { return [who = who()](Life& life) { return life.nfs4().renew(who); }; });
  }
}

// The locks of its former life are released before the client is answered in its new life
// (locks.md).
void ModelNfs4Client::reboot() {
  *gone_ = true;
  const Turn turn(busy_);
  trace("client %u boots", number_);
  change_.reset();
  stateids_.clear();
  given_up_.clear();
  arbiter_.drops_all(number_);
  gone_ = std::make_shared<bool>(false);
  ++verifier_;
  sleep_ns(up_to_ms(3'000));
  const Life::Body body = [this, who = who()](Life& life) {
    const auto answer = life.nfs4().establish(who);
    for (std::size_t file = 0; answer == CallStatus::kOk && file < files_; ++file) {
      LockCall call;
      call.owner = {fs::LockProtocol::kNfs4, "another", "client"};
      call.file = file;
      call.range = fs::kWholeFile;
      fs::LockOwner holder;
      life.test(call, &holder);
      if (holder.client == name_)
        fail("stuck: a lock of a life that its client has told to be over");
    }
    return answer;
  };
  server_.call(number_, body, gone_.get());
  if (version_ == Version::kV41) complete_reclaim();
}

void ModelNfs4Client::die() {
  trace("client %u dies", number_);
  *gone_ = true;
  dead_ = true;
  arbiter_.drops_all(number_);
  server_.nfs4_died(name_);
}

// --- reclaim

std::map<ModelNfs4Client::Key, Beliefs> ModelNfs4Client::books() const {
  auto out = arbiter_.of_client(number_);
  if (change_) out[change_->where] = change_->before;
  return out;
}

// The client itself has asked for less there: others may share it by now.
bool ModelNfs4Client::weakened(const Key& key, Span span) const {
  if (!change_ || change_->where != key) return false;
  const Beliefs& now = arbiter_.beliefs(key.first, key.second);
  for (std::size_t byte = span.first; byte <= span.last; ++byte)
    if (now[byte] != change_->before[byte]) return true;
  return false;
}

void ModelNfs4Client::lose_open(const Key& opener) {
  arbiter_.opens_less(opener.first, opener.second, {});
  for (unsigned which = 0; which < kLockersOfOpener; ++which) {
    const Key locker = locker_of(opener, which);
    arbiter_.drops(locker.first, locker.second, {0, kBytes - 1});
    if (change_ && change_->where == locker) change_.reset();
  }
}

bool ModelNfs4Client::reclaim() {
  stateids_.clear();
  if (below(3) == 0) give_up_some();
  return reclaim_opens() && reclaim_locks() && (version_ == Version::kV40 || complete_reclaim());
}

// Gives up what processes had that have ended since: nobody unlocks at an instance that does not
// know the lock.
void ModelNfs4Client::give_up_some() {
  for (const auto& [key, beliefs] : books()) {
    if (change_ && change_->where == key) continue;
    const bool whole = below(6) == 0;
    for (const auto& [span, mode] : runs(beliefs)) {
      if (!whole && below(3) != 0) continue;
      const Span part = whole ? span : draw_part(span);
      trace("client %u owner %u gives up file %zu %s", number_, key.second.owner, key.first,
            text_of(part).c_str());
      arbiter_.drops(key.first, key.second, part);
      given_up_.emplace_back(key, part);
    }
  }
  for (const auto& [opener, mode] : arbiter_.opens_of_client(number_)) {
    if (below(6) != 0) continue;
    trace("client %u owner %u gives up its open of file %zu", number_, opener.second.owner,
          opener.first);
    for (unsigned which = 0; which < kLockersOfOpener; ++which) {
      const Key locker = locker_of(opener, which);
      const Beliefs& beliefs = arbiter_.beliefs(locker.first, locker.second);
      for (const auto& [span, held] : runs(beliefs)) given_up_.emplace_back(locker, span);
    }
    lose_open(opener);
  }
}

std::optional<Server::Reply> ModelNfs4Client::insist(const Life::Body& body) {
  const auto gone = gone_;
  for (;; sleep_ns(up_to_ms(1'000))) {
    const auto reply = server_.call(number_, body, gone.get());
    if (!reply || reply->answer == CallStatus::kUnknownClient) return std::nullopt;
    if (reply->answer != CallStatus::kDelay) return reply;
  }
}

bool ModelNfs4Client::reclaim_opens() {
  for (const auto& [opener, mode] : arbiter_.opens_of_client(number_)) {
    const auto given = std::make_shared<Given>();
    const auto reply = insist(open_body(opener, mode, true, given));
    trace("client %u owner %u reclaims its open of file %zu: %d", number_, opener.second.owner,
          opener.first, reply ? static_cast<int>(reply->answer) : -1);
    if (!reply) return false;
    if (reply->answer == CallStatus::kGranted) {
      stateids_[opener] = given->at(reply->epoch);
      continue;
    }
    if (!lease_is_over()) {
      fail("lost: client " + std::to_string(number_) + " cannot reclaim that owner " +
           std::to_string(opener.second.owner) + " has file " + std::to_string(opener.first) +
           " open to " + sim::text_of(mode));
    }
    lose_open(opener);
  }
  return true;
}

bool ModelNfs4Client::reclaim_locks() {
  for (const auto& [key, beliefs] : books()) {
    for (const auto& [span, mode] : runs(beliefs))
      if (!reclaim_lock(key, span, mode)) return false;
  }
  return true;
}

bool ModelNfs4Client::reclaim_lock(const Key& key, Span span, fs::LockMode mode) {
  const auto stateid = stateids_.find(opener_of(key));
  if (stateid == stateids_.end()) return true;  // the open is lost
  LockCall call = call_of(key, span, mode);
  call.reclaim = true;
  const auto reply = insist([call, who = who(), stateid = stateid->second](Life& life) {
    return life.nfs4().lock(who, stateid, call);
  });
  if (!reply) return false;
  if (reply->answer == CallStatus::kGranted) {
    arbiter_.gains(key.first, key.second, span, mode);
    return true;
  }
  if (!lease_is_over() && !weakened(key, span)) {
    fail("lost: client " + std::to_string(number_) + " cannot reclaim file " +
         std::to_string(key.first) + " " + text_of(span));
  }
  arbiter_.drops(key.first, key.second, span);
  return true;
}

// After this call nobody holds what the client has given up.
bool ModelNfs4Client::complete_reclaim() {
  const auto reply = insist([who = who(), given_up = given_up_, this](Life& life) {
    const auto answer = life.nfs4().reclaim_complete(who);
    if (answer != CallStatus::kOk) return answer;
    for (const auto& [key, span] : given_up) {
      LockCall call = call_of(key, span, fs::LockMode::kExclusive);
      const fs::LockOwner its =
          std::exchange(call.owner, {fs::LockProtocol::kNfs4, "another", "client"});
      fs::LockOwner holder;
      life.test(call, &holder);
      if (holder == its)
        fail("stuck: " + text_of(span) + " of file " + std::to_string(key.first) + ": client " +
             std::to_string(number_) + " has not reclaimed them, and says that it has all");
    }
    return answer;
  });
  if (!reply) return false;
  given_up_.clear();
  return true;
}

}  // namespace symnas::sim
