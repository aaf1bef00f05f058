#include "vnfsd/daemon/fencing/stall_watcher.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/types/limits.h"
#include "vnfsd/daemon/fencing/limits.h"
#include "vnfsd/daemon/head/limits.h"

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

std::int64_t fence_after_ms(const Stall& stall) {
  return stall.waited_ms >= kUnansweredMs ? kFenceSilentMs : kFenceIdleMs;
}

double seconds(std::int64_t ms) { return static_cast<double>(ms) / 1000; }

}  // namespace

StallWatcher::StallWatcher(const ThisHead& head, ClusterReader& reader, Instances& instances,
                           Fencing& fencing, std::stop_token end)
    : head_(head),
      reader_(reader),
      instances_(instances),
      fencing_(fencing),
      later_(head),
      loop_(std::move(end)) {}

void StallWatcher::start() {
  loop_.start(kStallLookMs, [this] { look(); });
}

void StallWatcher::look() {
  if (!reader_.is_ready()) return;
  const auto view = reader_.fresh();
  if (!view) return;
  const std::vector<Stall> stalls = look_for_stalls(*view);
  {
    const MutexLock lock(mutex_);
    stalls_ = stalls;
  }
  later_.look(instances_.snapshots());
  if (head_.config.fence.automatic) {
    end_silent_instances(stalls);
    for (const Stall& stall : stalls) end_silent_head(stall, *view);
  }
  take_over_fences(*view);
}

nlohmann::json StallWatcher::stalls() const {
  nlohmann::json out = nlohmann::json::array();
  const MutexLock lock(mutex_);
  for (const Stall& stall : stalls_) out.push_back(describe(stall));
  return out;
}

std::vector<Stall> StallWatcher::look_for_stalls(const ClusterView& view) {
  std::vector<Stall> stalls;
  const std::vector<std::string> names = served_by(view, head_.config.head_name);
  watch_.keep_only(names);
  for (const std::string& name : names) {
    const auto filesystem = view.filesystems.find(name);
    if (filesystem == view.filesystems.end()) continue;
    const auto waits =
        fs::look_at_waits(head_.store, FsId{filesystem->second.record.fsid()}, kStoreDeadlineMs);
    if (!waits) continue;  // the ages begin anew when it lasts
    for (Stall& stall : watch_.look(head_.clock.mono_ns() / 1'000'000, name, *waits))
      stalls.push_back(std::move(stall));
  }
  return stalls;
}

void StallWatcher::end_silent_instances(const std::vector<Stall>& stalls) {
  for (const Stall& stall : stalls) {
    if (stall.mount.record.head() != head_.config.head_name || stall.silent_ms < kEndSilentMs)
      continue;
    instances_.end_instance(stall.mount.record.vnfs(), Epoch{stall.mount.record.epoch()},
                            fmt::format("silent for {:.1f} s, {} files or more wait for it",
                                        seconds(stall.silent_ms), stall.wants));
  }
}

void StallWatcher::end_silent_head(const Stall& stall, const ClusterView& view) {
  const std::string& head = stall.mount.record.head();
  if (head == head_.config.head_name || !fencing_.can_fence() ||
      stall.silent_ms < fence_after_ms(stall))
    return;
  const auto victim = view.heads.find(head);
  const std::string& incarnation = stall.mount.record.head_incarnation();
  if (victim == view.heads.end() || victim->second.record.incarnation() != incarnation)
    return;  // its next boot ends the old mounts itself
  const auto fence = view.fences.find(head);
  if (fence != view.fences.end() && fence->second.record.incarnation() == incarnation &&
      fence->second.record.state() != records::FENCE_FAILED) {
    return;  // somebody is at it, or take_over_fences() will be
  }
  const bool begun = fencing_.start_fence(
      head, {incarnation,
             {fence == view.fences.end() ? Revision{} : fence->second.mod_revision,
              kv::keys::heartbeat(FsId{view.filesystems.at(stall.filesystem).record.fsid()},
                                  stall.mount.id),
              stall.heartbeat},
             head_.clock.wall_ns() - stall.silent_ms * 1'000'000});
  if (begun) {
    log::warn("head {}: {} has been silent for {:.1f} s and {} files or more wait for it: fencing",
              head, fs::describe(stall.mount), seconds(stall.silent_ms), stall.wants);
  }
}

// A fence whose agent ended in the middle: until it is done or has failed, that boot of the head
// may claim nothing, whatever it does now.
void StallWatcher::take_over_fences(const ClusterView& view) {
  if (!fencing_.can_fence()) return;
  const auto under_way =
      fencing_.is_under_way() ? FenceWatch::UnderWay::kOne : FenceWatch::UnderWay::kNone;
  const auto abandoned =
      fence_watch_.look(head_.clock.mono_ns() / 1'000'000, view, head_.config.head_name, under_way,
                        fence_timeout_s(head_.config.fence), fencing_.heard_heads(view));
  for (const AbandonedFence& one : abandoned) {
    if (one.next == AbandonedFence::Next::kGiveUp) {
      fencing_.give_up_fence(view, one.head);
      continue;
    }
    const records::FenceRecord& fence = view.fences.at(one.head).record;
    // A fence that was begun unasked, before fencing unasked was configured off, is not continued.
    const bool asked_for = fence.silent_since_ns() == 0;
    if (!head_.config.fence.automatic && !asked_for && fence.state() == records::FENCE_RUNNING)
      continue;
    if (!fencing_.start_fence(
            one.head, {fence.incarnation(), {one.revision, "", {}}, fence.silent_since_ns()}))
      continue;
    log::warn("head {}: its fence does not go on: taking it over", one.head);
  }
}

nlohmann::json StallWatcher::describe(const Stall& stall) const {
  const std::string& head = stall.mount.record.head();
  std::string next;
  if (stall.silent_ms == 0) {
    next = "it lives but cannot give up what it holds: look at its head's LUNs";
  } else if (!head_.config.fence.automatic) {
    next = fmt::format("nothing is done by itself: symnas head fence {} --yes", head);
  } else if (head != head_.config.head_name && !fencing_.can_fence()) {
    next = fmt::format("no fencing is configured on {}: repair or reboot head {}",
                       head_.config.head_name, head);
  } else if (head == head_.config.head_name) {
    next = fmt::format("the instance is ended after {} s", kEndSilentMs / 1000);
  } else {
    next = fmt::format("the head is fenced after {} s", fence_after_ms(stall) / 1000);
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
