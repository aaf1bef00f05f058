// Agent: mounts that keep others waiting. What they hold is blocked until they answer or end; so an
// instance that has fallen silent is killed by its own head, and a head that does not do that is
// fenced (docs/architecture/fencing.md).
#include <algorithm>
#include <chrono>
#include <set>

#include <fmt/format.h>

#include "common/base/log.h"
#include "fsal_cluster/limits.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

// The filesystems that the VNFSs of a head export.
std::vector<std::string> served_by(const ClusterView& view, const std::string& head) {
  std::set<std::string> names;
  for (const auto& [vnfs, owner] : view.owners) {
    const auto record = view.vnfses.find(vnfs);
    if (owner.record.head() != head || record == view.vnfses.end()) continue;
    for (const std::string& name : record->second.record.exports()) {
      const auto exported = view.exports.find(name);
      if (exported != view.exports.end()) names.insert(exported->second.record.filesystem());
    }
  }
  return {names.begin(), names.end()};
}

double seconds(std::int64_t ms) { return static_cast<double>(ms) / 1000; }

}  // namespace

std::vector<Stall> Agent::look_for_stalls(StallWatch& watch, const ClusterView& view) {
  std::vector<Stall> stalls;
  const std::vector<std::string> names = served_by(view, config_.head_name);
  watch.keep_only(names);
  for (const std::string& name : names) {
    const auto filesystem = view.filesystems.find(name);
    if (filesystem == view.filesystems.end()) continue;
    const auto waits =
        fs::look_at_waits(store_, FsId{filesystem->second.record.fsid()}, kStoreDeadlineMs);
    if (!waits) continue;  // the ages begin anew when it lasts
    for (Stall& stall : watch.look(clock_.mono_ns() / 1'000'000, name, *waits))
      stalls.push_back(std::move(stall));
  }
  return stalls;
}

void Agent::watch_stalls() {
  StallWatch watch;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait_for(lock, std::chrono::milliseconds(kStallLookMs), [&] { return ending_; });
    if (ending_) return;
    if (!ready_) continue;
    lock.unlock();
    std::vector<Stall> stalls;
    if (const auto view = read_view(store_, kStoreDeadlineMs)) {
      stalls = look_for_stalls(watch, *view);
      lock.lock();
      stalls_ = stalls;
      lock.unlock();
      for (const Stall& stall : stalls) answer_stall(stall, *view);
    }
    lock.lock();
  }
}

void Agent::answer_stall(const Stall& stall, const ClusterView& view) {
  const std::string& head = stall.mount.record.head();
  const std::string& vnfs = stall.mount.record.vnfs();
  if (!config_.fence.automatic || stall.silent_ms == 0) return;
  if (head == config_.head_name) {
    const std::scoped_lock lock(mutex_);
    const auto supervisor = supervisors_.find(vnfs);
    if (supervisor == supervisors_.end()) return;
    supervisor->second->end_instance(
        Epoch{stall.mount.record.epoch()},
        fmt::format("silent for {:.1f} s, {} files or more wait for it", seconds(stall.silent_ms),
                    stall.wants));
    return;
  }
  const bool somebody_waits = stall.waited_ms >= kUnansweredMs;
  if (!links_.fence_off || stall.silent_ms < (somebody_waits ? kFenceSilentMs : kFenceIdleMs))
    return;
  const auto victim = view.heads.find(head);
  if (victim == view.heads.end() ||
      victim->second.record.incarnation() != stall.mount.record.head_incarnation()) {
    return;  // its next boot ends the old mounts itself
  }
  const auto fence = view.fences.find(head);
  const std::int64_t now_ms = clock_.mono_ns() / 1'000'000;
  const bool tried = fence_tried_ms_.contains(head);
  const std::int64_t pause_ms =
      fence != view.fences.end() && fence->second.record.state() == records::FENCE_RUNNING
          ? config_.fence.timeout_s * 1000
          : kFenceAgainMs;
  if (tried && now_ms - fence_tried_ms_[head] < pause_ms) return;
  const bool others = !tried && fence != view.fences.end() &&
                      fence->second.record.by() != config_.head_name &&
                      fence->second.record.incarnation() == victim->second.record.incarnation();
  fence_tried_ms_[head] = now_ms;
  if (others) return;  // somebody is at it
  log::warn("head {}: {} has been silent for {:.1f} s and {} files or more wait for it: fencing",
            head, fs::describe(stall.mount), seconds(stall.silent_ms), stall.wants);
  const auto done = fence_head(head, Mode::kCommit);
  if (!done) log::error("{}", done.error().message);
}

nlohmann::json Agent::describe(const Stall& stall) const {
  const std::string& head = stall.mount.record.head();
  std::string next;
  if (stall.silent_ms == 0) {
    next = "it lives but cannot give up what it holds: look at its head's LUNs";
  } else if (!config_.fence.automatic) {
    next = fmt::format("nothing is done by itself: symnas head fence {} --yes", head);
  } else if (head != config_.head_name && !links_.fence_off) {
    next = fmt::format("no fence agent is configured on {}: repair or reboot head {}",
                       config_.head_name, head);
  } else {
    next = head == config_.head_name ? "the instance is being ended" : "the head is being fenced";
  }
  return {{"filesystem", stall.filesystem},
          {"vnfs", stall.mount.record.vnfs()},
          {"head", head},
          {"mount", stall.mount.id.value()},
          {"silent_ms", stall.silent_ms},
          {"waited_ms", stall.waited_ms},
          {"waiting", stall.wants},
          {"next", next}};
}

}  // namespace symnas::vnfsd::daemon
