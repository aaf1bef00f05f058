#include "vnfsd/daemon/instances/answer_watcher.h"

#include <fcntl.h>

#include <chrono>
#include <future>
#include <utility>

#include <fmt/core.h>

#include "common/base/unique_fd.h"
#include "fsal_cluster/pulse/pulse.h"
#include "vnfsd/address/link.h"
#include "vnfsd/daemon/instances/limits.h"
#include "vnfsd/probe/canary.h"

namespace symnas::vnfsd::daemon {
namespace {

// Whether the gate is open: only then the instance owes an answer.
bool may_answer(int pid, std::int64_t now_ns) {
  const auto pulse = fs::PulseReader::open(pid);
  return pulse && pulse->read().open_until_ns > now_ns;
}

}  // namespace

AnswerWatcher::AnswerWatcher(const ThisHead& head, Instances& instances, Ask ask,
                             std::stop_token end)
    : head_(head), instances_(instances), ask_(std::move(ask)), loop_(std::move(end)) {}

void AnswerWatcher::start() {
  loop_.start(kAskEveryMs, [this] { look(); });
}

void AnswerWatcher::look() {
  struct Asked {
    Epoch epoch;
    std::future<WorkerSilence::NullReply> answer;
  };
  std::map<std::string, Asked> asked;
  for (const auto& [vnfs, snapshot] : instances_.snapshots()) {
    if (snapshot.standing() != InstanceStanding::kServing || snapshot.pid == 0) continue;
    asked[vnfs] = {Epoch{snapshot.epoch}, std::async(std::launch::async, ask_, snapshot.pid)};
  }
  std::erase_if(silences_, [&](const auto& entry) { return !asked.contains(entry.first); });
  for (auto& [vnfs, one] : asked) {
    const WorkerSilence::NullReply answer = one.answer.get();
    const std::int64_t silent_ms =
        silences_[vnfs].asked(head_.clock.mono_ns() / 1'000'000, one.epoch, answer);
    if (silent_ms == 0) continue;
    instances_.end_instance(
        vnfs, one.epoch,
        fmt::format("has answered no NULL call for {} ms although it could: its "
                    "workers are dead",
                    silent_ms));
  }
}

WorkerSilence::NullReply ask_instance(int pid, const env::Clock& clock) {
  const UniqueFd netns(::open(fmt::format("/proc/{}/ns/net", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!netns.valid()) return WorkerSilence::NullReply::kHeld;  // it has just ended
  bool given = false;
  const Status asked = address::inside_netns(netns.get(), [&]() -> Status {
    SYMNAS_ASSIGN(const IpAddress itself, IpAddress::parse("127.0.0.1"));
    given = probe::any_sign({itself}, kAskMs) == probe::Sign::kAnswered;
    return {};
  });
  if (given) return WorkerSilence::NullReply::kGiven;
  return asked && may_answer(pid, clock.mono_ns()) ? WorkerSilence::NullReply::kMissing
                                                   : WorkerSilence::NullReply::kHeld;
}

}  // namespace symnas::vnfsd::daemon
