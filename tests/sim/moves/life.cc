#include "tests/sim/moves/life.h"

#include <algorithm>
#include <utility>

#include "fsal_cluster/nsm/rpc_message.h"
#include "fsal_cluster/nsm/service.h"
#include "fsal_cluster/nsm/status_monitor.h"
#include "fsal_cluster/state/file_locks.h"
#include "fsal_cluster/state/gate.h"
#include "fsal_cluster/state/nlm_client.h"
#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kGrantGivenUpNs = 5'000 * kNsPerMs;
constexpr std::uint16_t kStatdOfClient = 700;  // reserved: an administrator's

bool overlap(const fs::LockRange& a, const fs::LockRange& b) {
  return a.start <= b.end && b.start <= a.end;
}

bool same_wait(const LockCall& a, const LockCall& b) {
  return a.file == b.file && a.owner == b.owner && a.range == b.range;
}

}  // namespace

bool mount_is_over(const Error& error) {
  return error.code == ErrorCode::kEnded || error.code == ErrorCode::kFenced ||
         error.code == ErrorCode::kShutdown;
}

std::string verifier_of(std::uint64_t verifier) { return "life " + std::to_string(verifier); }

Life::FileTurn::FileTurn(Life& life, std::size_t file) : life_(life), file_(file) {
  wait_until(&life_.busy_, "another lock operation", [&] { return !life_.busy_[file_]; });
  life_.busy_[file_] = true;
}

Life::FileTurn::~FileTurn() {
  life_.busy_[file_] = false;
  wake(&life_.busy_);
}

// As plugin/instance.cc does: the locks of a client that has rebooted are released, and SM_NOTIFY
// is answered when that is recorded.
Life::Life(MountWorld& world, std::uint64_t epoch, fs::Mount& mount, std::vector<fs::Handle> files)
    : world_(world),
      epoch_(epoch),
      mount_(mount),
      files_(std::move(files)),
      busy_(files_.size(), false),
      reboots_([this](const nsm::Reboot& reboot) -> Status {
        if (!world_.begin_request(epoch_))
          return symnas::fail(ErrorCode::kUnavailable, "no request is begun any more");
        const bool answers = forget_nlm_client(reboot.address, reboot.state).has_value();
        if (!answers) sleep_ns(INT64_MAX / 4);
        world_.end_request(epoch_);
        if (mount_.locks().owes_unlocks_of(reboot.address))
          return symnas::fail(ErrorCode::kUnavailable, "not recorded yet");
        return {};
      }),
      nfs4_(*this) {}

void Life::serve(const Key& key, const Body& body,
                 const std::function<void(CallStatus)>& answered) {
  const auto known = replies_.find(key);
  std::optional<CallStatus> answer;
  if (known != replies_.end()) {
    if (!known->second) return;  // another thread works on it, and answers
    answer = known->second;
  } else {
    replies_[key] = std::nullopt;
    answer = body(*this);
    if (!answer) return;
    replies_[key] = answer;
  }
  fs::Gate& gate = mount_.gate();
  if (gate.wait_to_answer(gate.now_ns()) == fs::Gate::Passage::kOpen) answered(*answer);
}

// --- locks

std::optional<CallStatus> Life::locked(const LockCall& call) {
  const auto answer = mount_.locks().lock(ino(call.file), call.owner, call.range, call.reclaim,
                                          {call.nsm_state, call.verifier});
  if (answer) return answer->granted ? CallStatus::kGranted : CallStatus::kDenied;
  trace("lock: %s", answer.error().message.c_str());
  if (mount_is_over(answer.error())) return std::nullopt;
  return CallStatus::kDelay;
}

// Now and then the unlock does not wait for its record, as when too many wait already
// (plugin/lock.cc): it is then not done yet.
std::optional<CallStatus> Life::unlocked(const LockCall& call) {
  using Record = fs::FileLocks::Record;
  const auto when = below(24) == 0 ? Record::kLater : Record::kNow;
  const Status recorded =
      mount_.locks().unlock(ino(call.file), call.owner, call.range.start, call.range.end, when);
  if (!recorded && mount_is_over(recorded.error())) return std::nullopt;
  return recorded && when == Record::kNow ? CallStatus::kGranted : CallStatus::kDelay;
}

std::optional<CallStatus> Life::lock(const LockCall& call) {
  const FileTurn turn(*this, call.file);
  return locked(call);
}

std::optional<CallStatus> Life::unlock(const LockCall& call) {
  const FileTurn turn(*this, call.file);
  return unlocked(call);
}

std::optional<CallStatus> Life::test(const LockCall& call, fs::LockOwner* holder) {
  const FileTurn turn(*this, call.file);
  const auto answer = mount_.locks().test(ino(call.file), call.owner, call.range);
  if (holder != nullptr) *holder = answer.conflict.holder;
  return answer.granted ? CallStatus::kGranted : CallStatus::kDenied;
}

// --- NLM

fs::LockWait Life::wait_of(const LockCall& call) const {
  fs::LockWait wait;
  wait.ino = ino(call.file);
  wait.generation = files_[call.file].generation;
  wait.owner = call.owner;
  wait.range = call.range;
  wait.nsm_state = call.nsm_state;
  return wait;
}

void Life::end_wait(const LockCall& call) { mount_.locks().end_wait(wait_of(call)); }

void Life::bring_back_waiters(const std::function<Granted(const LockCall&)>& client) {
  for (const fs::LockWait& wait : mount_.locks().left_waits()) {
    const auto file = std::find_if(files_.begin(), files_.end(),
                                   [&](const fs::Handle& one) { return one.ino == wait.ino; });
    LockCall call;
    call.owner = wait.owner;
    call.file = static_cast<std::size_t>(file - files_.begin());
    call.range = wait.range;
    call.nsm_state = wait.nsm_state;
    const FileTurn turn(*this, call.file);
    if (!mount_.locks().is_left(wait)) continue;
    if (std::any_of(waiters_.begin(), waiters_.end(), [&](const Waiter& waiter) {
          return waiter.call.file == call.file && waiter.call.owner == call.owner &&
                 overlap(waiter.call.range, call.range);
        })) {
      mount_.locks().end_left(wait);
      continue;
    }
    waiters_.push_back({call, client(call), ++last_cookie_});
    mount_.locks().begin_wait(wait_of(call));
  }
}

void Life::settle_grants(const LockCall& call) {
  std::erase_if(grants_, [&](const Waiter& grant) {
    if (grant.call.file != call.file || grant.call.owner != call.owner ||
        !overlap(grant.call.range, call.range))
      return false;
    end_wait(grant.call);
    return true;
  });
}

// As ganesha patch 0021: waits of the owner from a former life are dropped.
void Life::drop_former_waits(const LockCall& call) {
  for (std::vector<Waiter>* list : {&waiters_, &grants_}) {
    std::erase_if(*list, [&](const Waiter& waiter) {
      if (waiter.call.file != call.file || waiter.call.owner != call.owner ||
          !fs::is_former_life(waiter.call.nsm_state, call.nsm_state))
        return false;
      end_wait(waiter.call);
      return true;
    });
  }
}

std::optional<CallStatus> Life::nlm_lock(const LockCall& call, const Granted& wait) {
  const FileTurn turn(*this, call.file);
  drop_former_waits(call);
  const auto answer = locked(call);
  if (!answer) return answer;
  if (*answer == CallStatus::kGranted) settle_grants(call);
  const auto waits = std::find_if(waiters_.begin(), waiters_.end(), [&](const Waiter& waiter) {
    return same_wait(waiter.call, call);
  });
  if (*answer != CallStatus::kDenied || !wait) {
    if (waits != waiters_.end()) {
      waiters_.erase(waits);
      end_wait(call);
    }
    return answer;
  }
  if (waits == waiters_.end()) {
    waiters_.push_back({call, wait, ++last_cookie_});
    mount_.locks().begin_wait(wait_of(call));
  } else {
    waits->wait = wait;
  }
  return CallStatus::kBlocked;
}

std::optional<CallStatus> Life::nlm_unlock(const LockCall& call) {
  const FileTurn turn(*this, call.file);
  settle_grants(call);
  return unlocked(call);
}

std::optional<CallStatus> Life::nlm_cancel(const LockCall& call) {
  const FileTurn turn(*this, call.file);
  std::erase_if(waiters_, [&](const Waiter& waiter) { return same_wait(waiter.call, call); });
  end_wait(call);
  return CallStatus::kGranted;
}

// Waits of the client from its former life are dropped, too.
std::optional<CallStatus> Life::forget_nlm_client(const std::string& address,
                                                  std::optional<std::int32_t> but_state) {
  for (std::vector<Waiter>* list : {&waiters_, &grants_}) {
    std::erase_if(*list, [&](const Waiter& waiter) {
      const auto client = fs::parse_nlm_client(waiter.call.owner.client);
      if (!client || client->address != address ||
          (but_state && !fs::is_lost_by_notice(waiter.call.nsm_state, *but_state)))
        return false;
      end_wait(waiter.call);
      return true;
    });
  }
  const Status recorded = mount_.locks().forget_nlm_client(address, but_state);
  if (!recorded && mount_is_over(recorded.error())) return std::nullopt;
  return recorded || but_state ? CallStatus::kGranted : CallStatus::kDelay;
}

bool Life::poll(std::size_t index) {
  if (index >= waiters_.size()) return false;
  const std::size_t file = waiters_[index].call.file;
  const FileTurn turn(*this, file);
  if (index >= waiters_.size() || waiters_[index].call.file != file) return true;
  Waiter waiter = waiters_[index];
  waiter.held_before = mount_.locks().held_by(ino(file), waiter.call.owner, waiter.call.nsm_state);
  if (locked(waiter.call) != CallStatus::kGranted) return true;
  std::erase_if(waiters_, [&](const Waiter& one) { return one.cookie == waiter.cookie; });
  grants_.push_back(waiter);
  if (mount_.gate().wait() == fs::Gate::Passage::kOpen) call_back(waiter);
  return true;
}

// Sends a message to the client, and its answer back. Each may be lost, but not a refusal: nobody
// would ask again. A grant of which the client has not heard is taken back.
void Life::call_back(const Waiter& waiter) {
  static Process& network = new_process("callbacks");
  spawn(network, "callback", [this, waiter] {
    const bool arrives = below(4) != 0;
    sleep_ns(arrives ? static_cast<std::int64_t>(below(50)) * kNsPerMs : kGrantGivenUpNs);
    const bool wanted = arrives && waiter.wait();
    if (wanted && below(4) == 0) return;
    world_.send(epoch_, [this, waiter, wanted](fs::Mount&) {
      const FileTurn turn(*this, waiter.call.file);
      grant_answered(waiter.cookie, wanted);
    });
  });
}

void Life::grant_answered(std::uint64_t cookie, bool wanted) {
  const auto grant = std::find_if(grants_.begin(), grants_.end(),
                                  [&](const Waiter& one) { return one.cookie == cookie; });
  if (grant == grants_.end()) return;
  const Waiter answered = *grant;
  grants_.erase(grant);
  if (!wanted) take_back(answered);
  end_wait(answered.call);
}

void Life::take_back(const Waiter& grant) {
  const fs::LockRange& range = grant.call.range;
  LockCall part = grant.call;
  for (std::uint64_t start = range.start;; start = part.range.end + 1) {
    const auto held = std::find_if(
        grant.held_before.begin(), grant.held_before.end(),
        [&](const fs::LockRange& one) { return one.end >= start && one.start <= range.end; });
    const bool keeps = held != grant.held_before.end() && held->start <= start;
    part.range = {start, range.end, range.mode};
    if (keeps)
      part.range = {start, std::min(range.end, held->end), held->mode};
    else if (held != grant.held_before.end())
      part.range.end = held->start - 1;
    static_cast<void>(keeps ? locked(part) : unlocked(part));
    if (part.range.end == range.end) return;
  }
}

void Life::sm_notify(const std::string& address, std::int32_t state,
                     const std::function<void()>& answered) {
  const std::string message = nsm::encode_call(nsm::sm_notify(1, "localhost", state));
  nsm::Clients clients;
  clients.note = [this](const nsm::Reboot& client) {
    mount_.locks().note_nlm_life(client.address, client.state);
  };
  clients.has_locks = [this](const std::string& who) { return mount_.locks().has_nlm_client(who); };
  const nsm::Reply reply =
      nsm::answer(message, {address, kStatdOfClient}, nsm::state_of_epoch(epoch_), clients);
  if (reply.message.empty()) fail("an SM_NOTIFY was taken for no call");
  if (!reply.reboot) return answered();
  reboots_.add(*reply.reboot, answered);
}

}  // namespace symnas::sim
