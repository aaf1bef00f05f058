#include "vnfsd/daemon/fencing/fencing.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "ha/detection/probe.h"
#include "vnfsd/daemon/fencing/fence_steps.h"
#include "vnfsd/daemon/fencing/limits.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/instance/crash_point.h"
#include "vnfsd/plans/ownership.h"
#include "vnfsd/plans/plans.h"
#include "vnfsd/records/events.h"

namespace symnas::vnfsd::daemon {
namespace {

// Nothing for what is only a step.
std::optional<records::EventRecord> event_of(const std::string& head,
                                             const records::FenceRecord& fence,
                                             std::int64_t now_ns) {
  const auto event = [&](std::string_view kind, const std::string& what) {
    return make_event(kind, fmt::format("head {}: {}", head, what), now_ns);
  };
  switch (fence.state()) {
    case records::FENCE_RUNNING:
      return event(event::kFenceBegun, fmt::format("{} fences it", fence.by()));
    case records::FENCE_FAILED:
      return event(event::kFenceFailed,
                   fmt::format("{} could not fence it: {}", fence.by(), fence.error()));
    case records::FENCE_DONE:
      return event(event::kFenced, fmt::format("fenced by {}: {}", fence.by(), fence.proof()));
    default: return std::nullopt;
  }
}

// Sets a flag for as long as it lives.
class UnderWay {
 public:
  explicit UnderWay(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
  ~UnderWay() { flag_ = false; }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  std::atomic<bool>& flag_;
};

}  // namespace

Fencing::Fencing(const FencingParts& parts)
    : head_(parts.head),
      reader_(parts.reader),
      events_(parts.events),
      history_(parts.history),
      means_(parts.means),
      prober_(parts.prober),
      last_answers_ms_(parts.last_answers_ms) {}

Fencing::~Fencing() { wait(); }

void Fencing::wait() {
  std::future<void> last;
  {
    const MutexLock lock(fence_start_mutex_);
    last = std::move(fencing_);
  }
  if (last.valid()) last.wait();
}

Result<std::string> Fencing::fence_head(const std::string& name, Mode mode, const FenceTold& told) {
  const MutexLock fencing(fence_mutex_);
  return fence_locked(name, nullptr, mode, told);
}

// An administrator's fence may take minutes: what was seen before it is worth nothing afterwards.
Result<std::string> Fencing::fence_silent_head(const std::string& name, const FenceCause& cause) {
  if (!fence_mutex_.try_lock()) {
    return fail(ErrorCode::kBusy, fmt::format("head {}: not fenced now: {} has another one fenced",
                                              name, head_.config.head_name));
  }
  const MutexLock fencing(fence_mutex_, std::adopt_lock);
  return fence_locked(name, &cause, Mode::kCommit, {});
}

Result<std::string> Fencing::fence_locked(const std::string& name, const FenceCause* cause,
                                          Mode mode, const FenceTold& told) {
  const UnderWay under_way(under_way_);
  if (!means_.can_fence()) {
    return fail(ErrorCode::kNotSupported,
                fmt::format("head {}: neither reservations nor a fence agent are configured on {}, "
                            "so nothing can prove that it does nothing any more ([fence] in "
                            "vnfsd.toml)",
                            name, head_.config.head_name));
  }
  if (name == head_.config.head_name) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("head {}: is this head itself (fence it from another one)", name));
  }
  SYMNAS_ASSIGN(const ClusterView view, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(const auto* head, find(view.heads, "head", name));
  const Victim victim{name, head->record.incarnation()};
  if (cause != nullptr && victim.incarnation != cause->incarnation) return has_just_booted(name);
  if (const Status able = means_.check_can_fence(view); !able) {
    return fail(able.error().code,
                fmt::format("head {}: not fenced: {}", name, able.error().message));
  }
  if (mode == Mode::kDryRun) return fmt::format("head {}: would be fenced", name);
  if (told) SYMNAS_TRY(told(FenceStep::kBegins));
  auto looking =
      std::async(std::launch::async, [this, &view, &name] { return life_signs(view, name); });
  SYMNAS_ASSIGN(const records::FenceRecord fence, begin_fence(victim, cause));
  crash_point("fencing", name);
  if (fence.state() == records::FENCE_DONE)
    return fmt::format("head {}: is fenced already: {}", name, fence.proof());
  if (fence.state() == records::FENCE_PROVEN) return finish_fence(victim, nullptr);
  // To write the record may have taken seconds: whoever was only away for a moment is not cut off.
  if (cause != nullptr && cause->unheard && heard_heads(view).contains(name)) {
    const Error error{ErrorCode::kConflict, "it is heard again"};
    note_failed_fence(victim, error);
    return fail(error.code, fmt::format("head {}: not fenced: {}", name, error.message));
  }
  if (told) (void)told(FenceStep::kCutsOff);
  const auto done =
      means_.cut_off(name, victim.incarnation, [&] { return check_still_fenced(victim); });
  if (!done) {
    note_failed_fence(victim, done.error());
    return fail(done.error().code,
                fmt::format("head {}: not fenced: {} (its mounts have not ended, and what they "
                            "hold stays blocked: look at that and repeat the command)",
                            name, done.error().message));
  }
  log::warn("head {}: cut off: {}", name, done->proof);
  crash_point("cut off", name);
  if (told) (void)told(FenceStep::kEnds);
  SYMNAS_TRY(note_proof(victim, *done));
  crash_point("fence proven", name);
  const auto before = looking.get();
  return finish_fence(victim, before ? &*before : nullptr);
}

Status Fencing::check_still_fenced(const Victim& victim) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(head_.store, kStoreDeadlineMs));
  return vnfsd::check_still_fenced(view, head_.boot(), victim);
}

Fencing::PutFence Fencing::put_fence(const records::FenceRecord& record, kv::Txn txn) {
  if (auto event = event_of(record.head(), record, head_.clock.wall_ns()))
    events_.add(txn, std::move(*event));
  const auto done = kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs);
  if (done) return done->succeeded ? PutFence::kDone : PutFence::kConflict;
  log::warn("head {}: its fence record: {}", record.head(), done.error().message);
  return PutFence::kUnclear;
}

Result<records::FenceRecord> Fencing::begin_fence(const Victim& victim, const FenceCause* cause) {
  records::FenceRecord record;
  record.set_head(victim.head);
  record.set_incarnation(victim.incarnation);
  record.set_by(head_.config.head_name);
  record.set_began_ns(head_.clock.wall_ns());
  record.set_state(records::FENCE_RUNNING);
  if (cause != nullptr) record.set_silent_since_ns(cause->silent_since_ns);
  record.set_agent_timeout_s(fence_timeout_s(head_.config.fence));
  bool unclear = false;
  for (StepTries tries; tries.next();) {
    SYMNAS_ASSIGN(const ClusterView view, read_view(head_.store, kStoreDeadlineMs));
    SYMNAS_ASSIGN(FencePlan plan, plan_fence_begin(view, head_.boot(), record,
                                                   cause != nullptr ? &cause->seen : nullptr));
    if (!plan.txn) return plan.record;
    const PutFence put = put_fence(record, std::move(*plan.txn));
    if (put == PutFence::kDone) {
      log::warn("head {}: fencing its incarnation {}", victim.head, victim.incarnation);
      return record;
    }
    // The records are not as they were seen; but an earlier try of this head may be the reason.
    if (put == PutFence::kConflict && cause != nullptr && !std::exchange(unclear, false)) {
      return fail(ErrorCode::kConflict,
                  fmt::format("head {}: its records changed: it is left alone", victim.head));
    }
    unclear = unclear || put == PutFence::kUnclear;
  }
  return stands_still(victim.head);
}

void Fencing::note_failed_fence(const Victim& victim, const Error& error) {
  log::error("head {}: not fenced: {}", victim.head, error.message);
  for (StepTries tries; tries.next();) {
    const auto view = read_view(head_.store, kStoreDeadlineMs);
    if (!view) return;
    auto plan = plan_fence_failed(*view, head_.boot(), victim, error.message);
    if (!plan || !plan->txn) return;
    if (put_fence(plan->record, std::move(*plan->txn)) == PutFence::kDone) return;
  }
}

// The head that began the fence finds that the fence is not its own any more.
void Fencing::give_up_fence(const ClusterView& view, const std::string& head) {
  const Stored<records::FenceRecord>& fence = view.fences.at(head);
  records::FenceRecord record = fence.record;
  record.set_state(records::FENCE_FAILED);
  record.set_by(head_.config.head_name);
  record.set_error(
      fmt::format("{} did not go on with it, nothing is proven, and the head is heard again",
                  fence.record.by()));
  kv::Txn txn;
  txn.compares = {kv::mod_revision_is(fence_key(head), fence.mod_revision)};
  txn.success = {kv::put(fence_key(head), record.SerializeAsString())};
  if (put_fence(record, std::move(txn)) == PutFence::kDone)
    log::warn("head {}: not fenced: {}", head, record.error());
}

std::set<std::string> Fencing::heard_heads(const ClusterView& view) const {
  std::set<std::string> heard;
  if (prober_ == nullptr) return heard;
  for (const ha::PeerSight& sight : prober_->sights()) {
    const auto head = view.heads.find(sight.head);
    const bool now = std::ranges::any_of(sight.paths_silent_ms, [](std::int64_t silent_ms) {
      return silent_ms >= 0 && silent_ms < ha::kSilentMs;
    });
    if (now && head != view.heads.end() && head->second.record.incarnation() == sight.incarnation)
      heard.insert(sight.head);
  }
  return heard;
}

bool Fencing::start_fence(const std::string& head, FenceCause cause) {
  const MutexLock lock(fence_start_mutex_);
  const std::int64_t now_ms = head_.clock.mono_ns() / 1'000'000;
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

}  // namespace symnas::vnfsd::daemon
