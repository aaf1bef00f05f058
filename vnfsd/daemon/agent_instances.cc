// Agent: instances of this head whose workers are dead. Each is asked a NULL call from inside its
// own namespace, which needs no network, no store and no LUN: whoever runs and is allowed to answer
// does. (A macvlan hides the VIP from this head; whether clients reach it is a matter of networks.)
#include <fcntl.h>

#include <chrono>
#include <future>

#include <fmt/format.h>

#include "fsal_cluster/pulse/pulse.h"
#include "vnfsd/address/link.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/instances/limits.h"
#include "vnfsd/probe/canary.h"

namespace symnas::vnfsd::daemon {
namespace {

// Whether the gate is open: only then it owes an answer.
bool may_answer(int pid, std::int64_t now_ns) {
  const auto pulse = fs::PulseReader::open(pid);
  return pulse && pulse->read().open_until_ns > now_ns;
}

AnswerWatch::Answer ask(int pid, const env::Clock& clock) {
  const UniqueFd netns(::open(fmt::format("/proc/{}/ns/net", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!netns.valid()) return AnswerWatch::Answer::kHeld;  // it has just ended
  bool given = false;
  const Status asked = address::inside_netns(netns.get(), [&]() -> Status {
    SYMNAS_ASSIGN(const IpAddress itself, IpAddress::parse("127.0.0.1"));
    given = probe::any_sign({itself}, kAskMs) == probe::Sign::kAnswered;
    return {};
  });
  if (given) return AnswerWatch::Answer::kGiven;
  return asked && may_answer(pid, clock.mono_ns()) ? AnswerWatch::Answer::kMissing
                                                   : AnswerWatch::Answer::kHeld;
}

}  // namespace

void Agent::watch_instances() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait_for(lock, std::chrono::milliseconds(kAskEveryMs), [&] { return ending_; });
    if (ending_) return;
    lock.unlock();
    ask_instances();
    lock.lock();
  }
}

void Agent::ask_instances() {
  struct Asked {
    Epoch epoch;
    std::future<AnswerWatch::Answer> answer;
  };
  std::map<std::string, Asked> asked;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [vnfs, supervisor] : supervisors_) {
      const instance::InstanceSnapshot snapshot = supervisor->snapshot();
      if (snapshot.state != "serving" || snapshot.pid == 0) continue;
      asked[vnfs] = {Epoch{snapshot.epoch},
                     std::async(std::launch::async, ask, snapshot.pid, std::cref(clock_))};
    }
  }
  std::erase_if(answers_, [&](const auto& entry) { return !asked.contains(entry.first); });
  for (auto& [vnfs, one] : asked) {
    const AnswerWatch::Answer answer = one.answer.get();
    const std::int64_t silent_ms =
        answers_[vnfs].asked(clock_.mono_ns() / 1'000'000, one.epoch, answer);
    if (silent_ms == 0) continue;
    const std::scoped_lock lock(mutex_);
    const auto supervisor = supervisors_.find(vnfs);
    if (supervisor == supervisors_.end()) continue;
    supervisor->second->end_instance(
        one.epoch, fmt::format("has answered no NULL call for {} ms although it could: its "
                               "workers are dead",
                               silent_ms));
  }
}

}  // namespace symnas::vnfsd::daemon
