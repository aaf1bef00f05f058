#include "tests/sim/moves/nlm_client.h"

#include <algorithm>
#include <utility>

#include "tests/sim/moves/turn.h"
#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kAskAgainNs = 5'000 * kNsPerMs;
constexpr unsigned kOwners = 2;

}  // namespace

// All clients have the same name and number their owners alike: only their addresses differ.
ModelNlmClient::ModelNlmClient(Server& server, Arbiter& arbiter, unsigned number, std::size_t files)
    : server_(server),
      arbiter_(arbiter),
      number_(number),
      files_(files),
      identity_{"10.0.0." + std::to_string(200 + number), server.vip(), "localhost"} {
  server_.add(identity_.address, this);
}

LockCall ModelNlmClient::call_of(Arbiter::Holder holder, std::size_t file, Span span,
                                 fs::LockMode mode) const {
  LockCall call;
  call.owner = {fs::LockProtocol::kNlm, fs::identity_of(identity_),
                "svid " + std::to_string(holder.owner)};
  call.file = file;
  call.range = range_of(span, mode);
  call.nsm_state = life_;
  return call;
}

std::optional<CallStatus> ModelNlmClient::ask_lock(const LockCall& call, const Granted& wait) {
  const auto gone = gone_;
  trace("client %u life %d: LOCK file %zu %llu-%llu %s", number_, life_, call.file,
        static_cast<unsigned long long>(call.range.start),
        static_cast<unsigned long long>(call.range.end), call.owner.owner.c_str());
  const auto reply = server_.call(
      number_, [call, wait](Life& life) { return life.nlm_lock(call, wait); }, gone.get());
  if (!reply) return std::nullopt;
  trace("client %u: answer %d", number_, static_cast<int>(reply->answer));
  return reply->answer;
}

void ModelNlmClient::run(std::size_t operations) {
  for (std::size_t i = 0; i < operations && !dead_; ++i) {
    one();
    sleep_ns(up_to_ms(below(6) == 0 ? 4'000 : 100));
  }
}

void ModelNlmClient::one() {
  const Arbiter::Holder holder{number_, static_cast<unsigned>(below(kOwners))};
  const std::size_t file = below(files_);
  const Span span = draw_span();
  const auto mode = below(2) == 0 ? fs::LockMode::kExclusive : fs::LockMode::kShared;
  switch (below(40)) {
    case 0:
    case 1: return reboot();
    case 2: return free_all();
    case 3:
      if (below(4) != 0) return;
      trace("client %u dies", number_);
      *gone_ = true;
      dead_ = left_locks_ = true;
      return arbiter_.drops_all(number_);
    default: break;
  }
  const std::uint64_t dice = below(10);
  if (dice < 4) {
    lock(holder, file, span, mode);
  } else if (dice < 7) {
    unlock(holder, file, span);
  } else if (!arbiter_.holds_any(file, holder, span)) {
    lock_and_wait(holder, file, span, mode);
  }
}

// Now and then the client boots while it waits for the answer, or leaves the request in the
// server's buffers.
void ModelNlmClient::lock(Arbiter::Holder holder, std::size_t file, Span span, fs::LockMode mode) {
  const auto gone = gone_;
  const auto asks = std::make_shared<bool>(true);
  if (below(24) == 0) {
    spawn(current_process(), "power button", [gone, asks] {
      sleep_ns(up_to_ms(20));
      if (*asks) *gone = true;
    });
  }
  used_.insert({file, holder.owner});
  if (below(24) == 0) {
    const LockCall call = call_of(holder, file, span, mode);
    server_.deliver_late([call](Life& life) { return life.nlm_lock(call, nullptr); });
    return reboot();
  }
  {
    const Turn turn(busy_);
    if (mode == fs::LockMode::kShared) arbiter_.weakens(file, holder, span);
    const auto answer = ask_lock(call_of(holder, file, span, mode), nullptr);
    if (answer == CallStatus::kGranted && !*gone) arbiter_.gains(file, holder, span, mode);
  }
  *asks = false;
  if (*gone) reboot();
}

bool ModelNlmClient::granted(const std::shared_ptr<Wait>& wait) {
  if (wait->over || wait->granted) return wait->granted;
  wait->granted = true;
  arbiter_.gains(wait->file, wait->holder, wait->span, wait->mode);
  return true;
}

// As Linux: a process that waits is found by its range, whatever was called before.
bool ModelNlmClient::granted(const LockCall& call) {
  if (dead_ || *gone_) return false;
  const auto waiting = std::find_if(waits_.begin(), waits_.end(), [&](const auto& wait) {
    return !wait->over && !wait->granted && wait->call.owner == call.owner &&
           wait->call.file == call.file && wait->call.range == call.range;
  });
  return waiting != waits_.end() && granted(*waiting);
}

// F_SETLKW: asks, waits for the callback, asks again now and then, and may be interrupted.
void ModelNlmClient::lock_and_wait(Arbiter::Holder holder, std::size_t file, Span span,
                                   fs::LockMode mode) {
  used_.insert({file, holder.owner});
  const LockCall call = call_of(holder, file, span, mode);
  auto wait = std::make_shared<Wait>(Wait{holder, call, file, span, mode});
  std::erase_if(waits_, [](const auto& one) { return one->over || one->granted; });
  waits_.push_back(wait);
  const std::int64_t until_ns = now_ns() + up_to_ms(12'000);
  for (;;) {
    {
      const Turn turn(busy_);
      if (wait->granted) return;
      const auto answer = ask_lock(call, [this, wait] { return granted(wait); });
      if (answer == CallStatus::kGranted && !wait->granted) granted(wait);
      if (wait->granted) return;
    }
    if (now_ns() > until_ns) break;
    if (below(12) == 0) {
      // It boots; a process started afterwards waits for the same lock.
      wait->over = true;
      reboot();
      return lock_and_wait(holder, file, span, mode);
    }
    const std::int64_t again_ns = now_ns() + kNsPerMs * 1'000 + up_to_ms(6'000);
    while (!wait->granted && now_ns() < again_ns && now_ns() < until_ns) sleep_ns(20 * kNsPerMs);
    if (wait->granted) return;
  }
  const Turn turn(busy_);
  if (wait->granted) return;
  wait->over = true;
  const auto gone = gone_;
  server_.call(
      number_, [call](Life& life) { return life.nlm_cancel(call); }, gone.get());
  unlock(call);
}

void ModelNlmClient::unlock(Arbiter::Holder holder, std::size_t file, Span span) {
  const Turn turn(busy_);
  arbiter_.drops(file, holder, span);
  const LockCall call = call_of(holder, file, span, fs::LockMode::kShared);
  trace("client %u: UNLOCK file %zu %zu-%zu %s", number_, file, span.first, span.last,
        call.owner.owner.c_str());
  unlock(call);
}

// The client asks again until the unlock is recorded (ganesha patch 0025).
void ModelNlmClient::unlock(const LockCall& call) {
  const auto gone = gone_;
  for (;; sleep_ns(kAskAgainNs)) {
    const auto reply = server_.call(
        number_, [call](Life& life) { return life.nlm_unlock(call); }, gone.get());
    if (!reply || reply->answer == CallStatus::kGranted) return;
  }
}

void ModelNlmClient::close_all() {
  wait_until(&told_, "its last boot to be told", [this] { return told_; });
  for (const auto& [file, owner] : std::exchange(used_, {}))
    unlock({number_, owner}, file, {0, kBytes - 1});
}

// --- its own boots

void ModelNlmClient::reboot() {
  *gone_ = true;
  const Turn turn(busy_);
  trace("client %u boots", number_);
  arbiter_.drops_all(number_);
  used_.clear();
  gone_ = std::make_shared<bool>(false);
  // Only one boot is announced at a time: the announcement of an earlier one took time, too.
  wait_until(&told_, "its last boot to be told", [this] { return told_; });
  life_ += 2;
  sleep_ns(up_to_ms(3'000));
  told_ = false;
  spawn(current_process(), "sm-notify", [this] { announce(); });
}

// The notice is repeated until it is answered, as by sm-notify; several copies may be under way.
void ModelNlmClient::announce() {
  sleep_ns(up_to_ms(below(3) == 0 ? 8'000 : 300));
  while (!server_.sm_notify(identity_.address, life_)) sleep_ns(500 * kNsPerMs);
  trace("client %u: its boot is told", number_);
  told_ = true;
  wake(&told_);
}

// The host is shut down in order: lockd frees everything, then the host boots. It asks only once,
// so what could not be recorded may stay.
void ModelNlmClient::free_all() {
  {
    const Turn turn(busy_);
    arbiter_.drops_all(number_);
    used_.clear();
    const auto reply = server_.call(
        number_,
        [address = identity_.address](Life& life) {
          return life.forget_nlm_client(address, std::nullopt);
        },
        gone_.get());
    if (reply && reply->answer == CallStatus::kDelay) left_locks_ = true;
  }
}

// --- boots of the server

void ModelNlmClient::server_booted() {
  if (dead_ || *gone_ || reclaims_) return;
  reclaims_ = true;
  spawn(current_process(), "reclaimer", [this] { reclaim(); });
}

void ModelNlmClient::reclaim() {
  sleep_ns(up_to_ms(200));
  const Turn turn(busy_);
  reclaims_ = false;
  const auto gone = gone_;
  for (const auto& [key, beliefs] : arbiter_.of_client(number_)) {
    for (const auto& [span, mode] : runs(beliefs)) {
      LockCall call = call_of(key.second, key.first, span, mode);
      call.reclaim = true;
      call.nsm_state = 0;
      const auto answer = ask_lock(call, nullptr);
      if (*gone) return;
      if (answer == CallStatus::kDenied) {
        fail("lost: client " + std::to_string(number_) + " cannot reclaim file " +
             std::to_string(key.first) + " bytes " + std::to_string(span.first) + "-" +
             std::to_string(span.last));
      }
    }
  }
}

}  // namespace symnas::sim
