// Agent: mounts that keep others waiting. What they hold is blocked until they answer or end; so an
// instance that has fallen silent is killed by its own head, and a head that does not do that is
// fenced (docs/architecture/fencing.md).
#include <algorithm>
#include <chrono>
#include <set>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/limits.h"
#include "vnfsd/daemon/agent.h"
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
    const auto view = fresh_view();
    std::vector<Stall> stalls;
    if (view) stalls = look_for_stalls(watch, *view);
    lock.lock();
    if (!view) continue;
    stalls_ = stalls;
    lock.unlock();
    note_later();
    if (config_.fence.automatic) {
      end_silent_instances(stalls);
      for (const Stall& stall : stalls) end_silent_head(stall, *view);
    }
    take_over_fences(*view);
    lock.lock();
  }
}

void Agent::end_silent_instances(const std::vector<Stall>& stalls) {
  const std::scoped_lock lock(mutex_);
  for (const Stall& stall : stalls) {
    if (stall.mount.record.head() != config_.head_name || stall.silent_ms < kEndSilentMs) continue;
    const auto supervisor = supervisors_.find(stall.mount.record.vnfs());
    if (supervisor == supervisors_.end()) continue;
    supervisor->second->end_instance(
        Epoch{stall.mount.record.epoch()},
        fmt::format("silent for {:.1f} s, {} files or more wait for it", seconds(stall.silent_ms),
                    stall.wants));
  }
}

void Agent::end_silent_head(const Stall& stall, const ClusterView& view) {
  const std::string& head = stall.mount.record.head();
  if (head == config_.head_name || !can_fence() || stall.silent_ms < fence_after_ms(stall)) return;
  const auto victim = view.heads.find(head);
  const std::string& incarnation = stall.mount.record.head_incarnation();
  if (victim == view.heads.end() || victim->second.record.incarnation() != incarnation)
    return;  // its next boot ends the old mounts itself
  const auto fence = view.fences.find(head);
  if (fence != view.fences.end() && fence->second.record.incarnation() == incarnation &&
      fence->second.record.state() != records::FENCE_FAILED) {
    return;  // somebody is at it, or take_over_fences() will be
  }
  const bool begun = start_fence(
      head, {incarnation, fence == view.fences.end() ? Revision{} : fence->second.mod_revision,
             kv::keys::heartbeat(FsId{view.filesystems.at(stall.filesystem).record.fsid()},
                                 stall.mount.id),
             stall.heartbeat, clock_.wall_ns() - stall.silent_ms * 1'000'000});
  if (begun) {
    log::warn("head {}: {} has been silent for {:.1f} s and {} files or more wait for it: fencing",
              head, fs::describe(stall.mount), seconds(stall.silent_ms), stall.wants);
  }
}

bool Agent::start_fence(const std::string& head, FenceCause cause) {
  const std::scoped_lock lock(fence_start_mutex_);
  const std::int64_t now_ms = clock_.mono_ns() / 1'000'000;
  std::int64_t& tried_ms = fence_tried_ms_[head];
  const bool busy =
      fencing_.valid() && fencing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  if (busy || (tried_ms != 0 && now_ms - tried_ms < kFenceAgainMs)) return false;
  tried_ms = now_ms;
  fencing_ = std::async(std::launch::async, [this, head, cause = std::move(cause)] {
    const auto done = fence_silent_head(head, cause);
    if (done) return;
    if (done.error().code == ErrorCode::kConflict) {
      log::info("head {}: another head was faster, or it has changed: {}", head,
                done.error().message);
    } else {
      log::error("{}", done.error().message);
    }
  });
  return true;
}

// A fence whose agent ended in the middle: until it is done or has failed, that boot of the head
// may claim nothing, whatever it does now.
void Agent::take_over_fences(const ClusterView& view) {
  if (!can_fence()) return;
  auto under_way = FenceWatch::UnderWay::kOne;
  if (const std::unique_lock fencing(fence_mutex_, std::try_to_lock); fencing)
    under_way = FenceWatch::UnderWay::kNone;
  const auto abandoned =
      fence_watch_.look(clock_.mono_ns() / 1'000'000, view, config_.head_name, under_way,
                        fence_timeout_s(config_.fence), heard_heads(view));
  for (const AbandonedFence& one : abandoned) {
    if (one.next == AbandonedFence::Next::kGiveUp) {
      give_up_fence(view, one.head);
      continue;
    }
    const records::FenceRecord& fence = view.fences.at(one.head).record;
    // What was begun unasked, before it was configured otherwise, is not gone on with.
    const bool asked_for = fence.silent_since_ns() == 0;
    if (!config_.fence.automatic && !asked_for && fence.state() == records::FENCE_RUNNING) continue;
    if (!start_fence(one.head,
                     {fence.incarnation(), one.revision, "", {}, fence.silent_since_ns()}))
      continue;
    log::warn("head {}: its fence does not go on: taking it over", one.head);
  }
}

nlohmann::json Agent::describe(const Stall& stall) const {
  const std::string& head = stall.mount.record.head();
  std::string next;
  if (stall.silent_ms == 0) {
    next = "it lives but cannot give up what it holds: look at its head's LUNs";
  } else if (!config_.fence.automatic) {
    next = fmt::format("nothing is done by itself: symnas head fence {} --yes", head);
  } else if (head != config_.head_name && !can_fence()) {
    next = fmt::format("no fencing is configured on {}: repair or reboot head {}",
                       config_.head_name, head);
  } else if (head == config_.head_name) {
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
