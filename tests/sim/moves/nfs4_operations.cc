// A ModelNfs4Client's operations on files.
#include <utility>

#include "tests/sim/moves/nfs4_client.h"
#include "tests/sim/moves/turn.h"
#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

namespace {

constexpr Span kAllBytes{0, kBytes - 1};

// Mostly read or write, now and then both.
std::uint8_t draw_access() {
  return below(4) == 0   ? fs::kShareRead | fs::kShareWrite
         : below(2) == 0 ? fs::kShareRead
                         : fs::kShareWrite;
}

// Every second mode denies nothing. In NFSv4 a deny mode also applies to clients that have not
// opened the file.
fs::ShareMode draw_mode() {
  fs::ShareMode mode{draw_access(), 0};
  if (below(2) == 0) mode.deny = draw_access();
  if ((mode.deny & fs::kShareWrite) != 0) mode.deny |= fs::kShareMandatory;
  return mode;
}

fs::ShareMode draw_part(fs::ShareMode whole) {
  fs::ShareMode mode{static_cast<std::uint8_t>(whole.access & (1 + below(3))),
                     static_cast<std::uint8_t>(whole.deny & below(4))};
  if (mode.access == 0) mode.access = whole.access;
  if ((mode.deny & fs::kShareWrite) != 0) mode.deny |= fs::kShareMandatory;
  return mode;
}

}  // namespace

// Reboots the client now and then while it waits for an answer.
class ModelNfs4Client::PowerButton {
 public:
  explicit PowerButton(const std::shared_ptr<bool>& gone) {
    if (below(24) != 0) return;
    spawn(current_process(), "power button", [gone, asks = asks_] {
      sleep_ns(up_to_ms(20));
      if (*asks) *gone = true;
    });
  }
  ~PowerButton() { *asks_ = false; }
  PowerButton(const PowerButton&) = delete;
  PowerButton& operator=(const PowerButton&) = delete;

 private:
  const std::shared_ptr<bool> asks_ = std::make_shared<bool>(true);
};

ModelNfs4Client::Key ModelNfs4Client::draw_opener() const {
  return {below(files_), {number_, static_cast<unsigned>(below(kOpeners))}};
}

ModelNfs4Client::Key ModelNfs4Client::opener_of(const Key& locker) {
  return {locker.first, {locker.second.client, locker.second.owner / kLockersOfOpener}};
}

ModelNfs4Client::Key ModelNfs4Client::locker_of(const Key& opener, unsigned which) {
  return {opener.first, {opener.second.client, opener.second.owner * kLockersOfOpener + which}};
}

void ModelNfs4Client::one() {
  const Key opener = draw_opener();
  const Key locker = locker_of(opener, static_cast<unsigned>(below(kLockersOfOpener)));
  const auto mode = below(2) == 0 ? fs::LockMode::kExclusive : fs::LockMode::kShared;
  const std::uint64_t dice = below(60);
  if (dice < 2) {
    reboot();
  } else if (dice == 2 && below(3) == 0) {
    die();
  } else if (dice < 14) {
    open(opener, draw_mode());
  } else if (dice < 18) {
    downgrade(opener);
  } else if (dice < 26) {
    close(opener);
  } else if (dice < 30) {
    close_beside_open(opener, draw_mode());
  } else if (dice < 48) {
    lock(locker, draw_span(), mode);
  } else {
    unlock(locker, draw_span());
  }
}

// --- opens

Life::Body ModelNfs4Client::open_body(const Key& opener, fs::ShareMode mode, bool reclaim,
                                      const std::shared_ptr<Given>& given) const {
  const Nfs4Clients::OpenCall call{
      .file = opener.first, .owner = opener.second.owner, .mode = mode, .reclaim = reclaim};
  return [call, given, who = who()](Life& life) {
    Stateid stateid;
    const auto answer = life.nfs4().open(who, call, stateid);
    if (answer == CallStatus::kGranted) (*given)[life.epoch()] = stateid;
    return answer;
  };
}

// `before`: the mode it has if the stateid shows that the file was open already.
std::optional<CallStatus> ModelNfs4Client::open_now(const Key& opener, fs::ShareMode mode,
                                                    fs::ShareMode before) {
  const auto gone = gone_;
  const auto given = std::make_shared<Given>();
  const auto reply = ask([&] { return open_body(opener, mode, false, given); });
  if (!reply || *gone) return std::nullopt;
  trace("client %u owner %u opens file %zu to %s: answer %d", number_, opener.second.owner,
        opener.first, text_of(mode).c_str(), static_cast<int>(reply->answer));
  if (reply->answer != CallStatus::kGranted) return reply->answer;
  const Stateid stateid = given->at(reply->epoch);
  const auto known = stateids_.find(opener);
  const bool was_open = known != stateids_.end() && known->second.open == stateid.open;
  stateids_[opener] = stateid;
  arbiter_.opens(opener.first, opener.second, was_open ? before | mode : mode);
  return reply->answer;
}

// When the answer is "ask again", the client does so for a while.
void ModelNfs4Client::open(const Key& opener, fs::ShareMode mode) {
  const auto gone = gone_;
  for (std::uint64_t tries = 1 + below(5); tries > 0 && !*gone; --tries) {
    std::optional<CallStatus> answer;
    {
      const PowerButton button(gone);
      const Turn turn(busy_);
      answer = open_now(opener, mode, arbiter_.open_of(opener.first, opener.second));
    }
    if (answer != CallStatus::kDelay) break;
    sleep_ns(up_to_ms(2'000));
  }
  if (*gone) reboot();
}

// What the client has open at the instance where it has reclaimed must stay open.
void ModelNfs4Client::expect_open(const Key& opener,
                                  const std::optional<Server::Reply>& reply) const {
  if (!reply) return;
  if (reply->answer != CallStatus::kBadStateid && reply->answer != CallStatus::kOldStateid) return;
  fail("lost: file " + std::to_string(opener.first) + " is not open any more for owner " +
       std::to_string(opener.second.owner) + " of client " + std::to_string(number_));
}

void ModelNfs4Client::downgrade(const Key& opener) {
  const Turn turn(busy_);
  const fs::ShareMode before = arbiter_.open_of(opener.first, opener.second);
  if (before == fs::ShareMode{}) return;
  const fs::ShareMode mode = draw_part(before);
  arbiter_.opens_less(opener.first, opener.second, mode);
  const auto given = std::make_shared<Given>();
  const auto reply = ask([&]() -> std::optional<Life::Body> {
    const auto stateid = stateids_.find(opener);
    if (stateid == stateids_.end()) return std::nullopt;
    return [given, mode, who = who(), stateid = stateid->second](Life& life) {
      Stateid next;
      const auto answer = life.nfs4().downgrade(who, stateid, mode, next);
      if (answer == CallStatus::kGranted) (*given)[life.epoch()] = next;
      return answer;
    };
  });
  expect_open(opener, reply);
  if (reply && reply->answer == CallStatus::kGranted) stateids_[opener] = given->at(reply->epoch);
}

void ModelNfs4Client::close(const Key& opener) {
  const Turn turn(busy_);
  close_now(opener);
}

// NFSv4.0 refuses a CLOSE while something is locked. An instance that does not know of the open
// needs no CLOSE.
void ModelNfs4Client::close_now(const Key& opener) {
  if (version_ == Version::kV40 || below(3) == 0) unlock_under(opener);
  lose_open(opener);
  const auto reply = ask([&]() -> std::optional<Life::Body> {
    const auto stateid = stateids_.find(opener);
    if (stateid == stateids_.end()) return std::nullopt;
    return [who = who(), stateid = stateid->second](Life& life) {
      return life.nfs4().close(who, stateid);
    };
  });
  expect_open(opener, reply);
  stateids_.erase(opener);
}

// NFSv4.1: while the CLOSE of its last open is under way, the owner opens the file again and locks
// something.
void ModelNfs4Client::close_beside_open(const Key& opener, fs::ShareMode mode) {
  if (version_ == Version::kV40) return;
  const Turn turn(busy_);
  const auto gone = gone_;
  unlock_under(opener);
  const auto stateid = stateids_.find(opener);
  if (stateid == stateids_.end() || *gone) return;
  const fs::ShareMode before = arbiter_.open_of(opener.first, opener.second);
  lose_open(opener);
  bool closed = false;
  spawn(current_process(), "close", [&, who = who(), stateid = stateid->second] {
    server_.call(
        number_, [who, stateid](Life& life) { return life.nfs4().close(who, stateid); },
        gone.get());
    closed = true;
    wake(&closed);
  });
  if (below(2) == 0) sleep_ns(up_to_ms(2));
  if (open_now(opener, mode, before) == CallStatus::kGranted) {
    lock_now(locker_of(opener, static_cast<unsigned>(below(kLockersOfOpener))), draw_span(),
             fs::LockMode::kExclusive);
  }
  wait_until(&closed, "its CLOSE", [&] { return closed; });
  if (arbiter_.open_of(opener.first, opener.second) == fs::ShareMode{}) stateids_.erase(opener);
}

// --- locks

std::optional<CallStatus> ModelNfs4Client::lock_now(const Key& locker, Span span,
                                                    fs::LockMode mode) {
  const auto gone = gone_;
  const Key opener = opener_of(locker);
  change_ = {locker, arbiter_.beliefs(locker.first, locker.second)};
  const auto reply = ask([&]() -> std::optional<Life::Body> {
    const auto stateid = stateids_.find(opener);
    if (stateid == stateids_.end()) return std::nullopt;
    // Each time: what it has reclaimed in between it held as before.
    if (mode == fs::LockMode::kShared) arbiter_.weakens(locker.first, locker.second, span);
    return [call = call_of(locker, span, mode), who = who(),
            stateid = stateid->second](Life& life) { return life.nfs4().lock(who, stateid, call); };
  });
  change_.reset();
  if (!reply || *gone) return std::nullopt;
  expect_open(opener, reply);
  if (reply->answer == CallStatus::kGranted)
    arbiter_.gains(locker.first, locker.second, span, mode);
  return reply->answer;
}

void ModelNfs4Client::lock(const Key& locker, Span span, fs::LockMode mode) {
  const auto gone = gone_;
  {
    const PowerButton button(gone);
    const Turn turn(busy_);
    const Key opener = opener_of(locker);
    if (!stateids_.contains(opener)) open_now(opener, {draw_access(), 0}, {});
    if (!*gone) lock_now(locker, span, mode);
  }
  if (*gone) reboot();
}

void ModelNfs4Client::unlock(const Key& locker, Span span) {
  const Turn turn(busy_);
  unlock_now(locker, span);
}

// Linux does not send an unlock again that was under way when its server was lost.
void ModelNfs4Client::unlock_now(const Key& locker, Span span) {
  arbiter_.drops(locker.first, locker.second, span);
  const bool sends_again = below(2) == 0;
  bool sent = false;
  const auto reply = ask([&]() -> std::optional<Life::Body> {
    const auto stateid = stateids_.find(opener_of(locker));
    if (stateid == stateids_.end() || (std::exchange(sent, true) && !sends_again))
      return std::nullopt;
    return
        [call = call_of(locker, span, fs::LockMode::kShared), who = who(),
         stateid = stateid->second](Life& life) { return life.nfs4().unlock(who, stateid, call); };
  });
  expect_open(opener_of(locker), reply);
}

void ModelNfs4Client::unlock_under(const Key& opener) {
  for (unsigned which = 0; which < kLockersOfOpener; ++which)
    unlock_now(locker_of(opener, which), kAllBytes);
}

// --- at the end

void ModelNfs4Client::close_all() {
  const Turn turn(busy_);
  const auto opens = stateids_;
  for (const auto& [opener, stateid] : opens) close_now(opener);
}

}  // namespace symnas::sim
