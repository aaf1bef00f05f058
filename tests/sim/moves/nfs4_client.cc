#include "tests/sim/moves/nfs4_client.h"

#include "tests/sim/moves/turn.h"
#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr unsigned kOwners = 2;
constexpr std::int64_t kRenewNs = 4'000 * kNsPerMs;
// After so long without a word its locks may have been revoked: two leases, on a clock that is fast
// by a tenth, less what a message takes.
constexpr std::int64_t kSilenceNs = 35'000 * kNsPerMs;

}  // namespace

ModelNfs4Client::ModelNfs4Client(Server& server, Arbiter& arbiter, unsigned number,
                                 std::size_t files)
    : server_(server),
      arbiter_(arbiter),
      number_(number),
      files_(files),
      name_("Linux NFSv4 " + std::to_string(number)),
      contact_ns_(now_ns()) {
  arbiter_.may_lose(number_, [this] { return lease_is_over(); });
}

bool ModelNfs4Client::lease_is_over() const { return now_ns() - contact_ns_ > kSilenceNs; }

LockCall ModelNfs4Client::call_of(Arbiter::Holder holder, std::size_t file, Span span,
                                  fs::LockMode mode) const {
  LockCall call;
  call.owner = {fs::LockProtocol::kNfs4, name_, "open owner " + std::to_string(holder.owner)};
  call.file = file;
  call.range = range_of(span, mode);
  return call;
}

std::optional<Answer> ModelNfs4Client::ask(const Operation& operation) {
  const auto gone = gone_;
  for (;;) {
    const auto reply = server_.call(
        number_,
        [this, operation, verifier = verifier_](Life& life) {
          return life.nfs4(name_, verifier, [&] { return operation(life); });
        },
        gone.get());
    if (!reply) return std::nullopt;
    if (reply->answer != Answer::kUnknownClient) {
      contact_ns_ = reply->sent_ns;
      return reply->answer;
    }
    if (!establish()) return std::nullopt;
    reclaim();
  }
}

bool ModelNfs4Client::establish() {
  const auto gone = gone_;
  return server_
      .call(
          number_,
          [this, verifier = verifier_](Life& life) { return life.nfs4_establish(name_, verifier); },
          gone.get())
      .has_value();
}

std::map<std::pair<std::size_t, Arbiter::Holder>, Beliefs> ModelNfs4Client::books() const {
  auto out = arbiter_.of_client(number_);
  if (change_) out[change_->where] = change_->before;
  return out;
}

// It has asked for less itself: others may share it by now.
bool ModelNfs4Client::weakened(std::size_t file, Arbiter::Holder holder, Span span) const {
  if (!change_ || change_->where != std::pair(file, holder)) return false;
  const Beliefs& now = arbiter_.beliefs(file, holder);
  for (std::size_t byte = span.first; byte <= span.last; ++byte)
    if (now[byte] != change_->before[byte]) return true;
  return false;
}

// Ends early when the instance that it had established itself at is gone, too: ask() begins anew.
void ModelNfs4Client::reclaim() {
  const auto gone = gone_;
  for (const auto& [key, beliefs] : books()) {
    for (const auto& [span, mode] : runs(beliefs)) {
      LockCall call = call_of(key.second, key.first, span, mode);
      call.reclaim = true;
      const auto reply = server_.call(
          number_,
          [this, call, verifier = verifier_](Life& life) {
            return life.nfs4_lock(name_, verifier, call);
          },
          gone.get());
      if (!reply || reply->answer == Answer::kUnknownClient) return;
      if (reply->answer != Answer::kDenied) continue;
      const bool excused = lease_is_over() || weakened(key.first, key.second, span);
      if (!excused) {
        fail("lost: client " + std::to_string(number_) + " cannot reclaim file " +
             std::to_string(key.first) + " bytes " + std::to_string(span.first) + "-" +
             std::to_string(span.last));
      }
      arbiter_.drops(key.first, key.second, span);
    }
  }
}

void ModelNfs4Client::run(std::size_t operations) {
  spawn(current_process(), "renew", [this] { renew(); });
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
    if (!dead_) ask([](Life&) { return Answer::kOk; });
  }
}

void ModelNfs4Client::one() {
  const Arbiter::Holder holder{number_, static_cast<unsigned>(below(kOwners))};
  const std::size_t file = below(files_);
  const Span span = draw_span();
  const auto mode = below(2) == 0 ? fs::LockMode::kExclusive : fs::LockMode::kShared;
  const std::uint64_t dice = below(40);
  if (dice < 2) {
    reboot();
  } else if (dice == 2 && below(3) == 0) {
    die();
  } else if (dice < 26) {
    lock(holder, file, span, mode);
  } else {
    unlock(holder, file, span);
  }
}

// Now and then it boots while it waits for the answer.
void ModelNfs4Client::lock(Arbiter::Holder holder, std::size_t file, Span span, fs::LockMode mode) {
  const auto gone = gone_;
  const auto asks = std::make_shared<bool>(true);
  if (below(24) == 0) {
    spawn(current_process(), "power button", [gone, asks] {
      sleep_ns(up_to_ms(20));
      if (*asks) *gone = true;
    });
  }
  used_.insert({file, holder.owner});
  {
    const Turn turn(busy_);
    change_ = {{file, holder}, arbiter_.beliefs(file, holder)};
    if (mode == fs::LockMode::kShared) arbiter_.weakens(file, holder, span);
    const LockCall call = call_of(holder, file, span, mode);
    const auto answer = ask([this, call, verifier = verifier_](Life& life) {
      return life.nfs4_lock(name_, verifier, call);
    });
    if (answer == Answer::kGranted && !*gone) arbiter_.gains(file, holder, span, mode);
    change_.reset();
  }
  *asks = false;
  if (*gone) reboot();
}

void ModelNfs4Client::unlock(Arbiter::Holder holder, std::size_t file, Span span) {
  const Turn turn(busy_);
  arbiter_.drops(file, holder, span);
  const LockCall call = call_of(holder, file, span, fs::LockMode::kShared);
  ask([call](Life& life) { return life.unlock(call); });
}

// What it left in its former life goes at once where it is known, and after two leases elsewhere.
void ModelNfs4Client::reboot() {
  *gone_ = true;
  const Turn turn(busy_);
  trace("client %u boots", number_);
  change_.reset();
  arbiter_.drops_all(number_);
  used_.clear();
  gone_ = std::make_shared<bool>(false);
  ++verifier_;
  sleep_ns(up_to_ms(3'000));
  establish();
}

void ModelNfs4Client::die() {
  trace("client %u dies", number_);
  *gone_ = true;
  dead_ = true;
  arbiter_.drops_all(number_);
  server_.nfs4_died(name_);
}

void ModelNfs4Client::close_all() {
  for (const auto& [file, owner] : std::exchange(used_, {}))
    unlock({number_, owner}, file, {0, kBytes - 1});
}

}  // namespace symnas::sim
