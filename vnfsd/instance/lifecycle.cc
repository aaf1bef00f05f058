#include "vnfsd/instance/lifecycle.h"

#include <utility>

#include "vnfsd/instance/limits.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr std::int64_t kFencePauseMs = 500;     // between tries of a fence that cannot succeed yet
constexpr std::int64_t kConflictPauseMs = 20;   // after a transaction that met another's
constexpr std::int64_t kClaimPauseMs = 50;      // between tries to take it, when its clients wait
constexpr std::int64_t kReleasePauseMs = 1000;  // between tries to give ownership up
constexpr std::int64_t kPlanPauseMs = 500;      // between tries to read what its VIPs are

bool is_failure(Event event) { return event == Event::kFailed || event == Event::kConflict; }
// It is to be killed without a farewell.
bool is_unfit(Event event) { return event == Event::kUnfit || event == Event::kStill; }

}  // namespace

std::vector<Action> Lifecycle::want(Wanted wanted, std::int64_t now_ms) {
  if (std::exchange(wanted_, wanted) == wanted) return {};
  return step(Event::kWanted, now_ms);
}

std::vector<Action> Lifecycle::step(Event event, std::int64_t now_ms) {
  now_ms_ = now_ms;
  actions_.clear();
  if (event == Event::kTime) until_ms_.reset();
  switch (phase_) {
    case Phase::kFencing: fencing(event); break;
    case Phase::kWaiting: waiting(event); break;
    case Phase::kClaiming: claiming(event); break;
    case Phase::kLaunching: launching(event); break;
    case Phase::kPreparing:
    case Phase::kLaunchingStandby: preparing(event); break;
    case Phase::kComingUp: coming_up(event); break;
    case Phase::kPrepared: prepared(event); break;
    case Phase::kCalling: calling(event); break;
    case Phase::kDiscarding: discarding(event); break;
    case Phase::kStarting: starting(event); break;
    case Phase::kAdopted: adopted(event); break;
    case Phase::kAnnouncing: announcing(event); break;
    case Phase::kServing:
    case Phase::kHidden: serving(event); break;
    case Phase::kRetiring:
    case Phase::kRetiringHidden: retiring(event); break;
    case Phase::kSilenced: silenced(event); break;
    case Phase::kReaping: reaping(event); break;
    case Phase::kEnding: ending(event); break;
    case Phase::kReleasing: releasing(event); break;
    case Phase::kStopped: stopped(event); break;
  }
  return std::move(actions_);
}

// --- nothing runs

void Lifecycle::fencing(Event event) {
  if (event == Event::kTime) act({Action::kFence});
  if (event == Event::kDone) settle();
  if (is_failure(event)) wait(kFencePauseMs);
}

void Lifecycle::waiting(Event event) {
  if (event != Event::kTime && event != Event::kWanted) return;
  pause_until_ms_ = 0;  // whoever wants something else does not wait for it
  settle();
}

void Lifecycle::claiming(Event event) {
  if (event == Event::kDone) {
    if (stays()) return enter(Phase::kLaunching, {Action::kLaunch});
    return enter(Phase::kFencing, {Action::kFence});  // what was claimed is to be given up
  }
  if (!is_failure(event)) return;
  pause_after(event);
  settle();
}

void Lifecycle::launching(Event event) {
  if (event == Event::kDone) return enter(Phase::kStarting, {Action::kAwaitListening});
  if (!is_failure(event)) return;
  pause_after(event);
  enter(Phase::kFencing, {Action::kFence});
}

void Lifecycle::releasing(Event event) {
  const bool waits = until_ms_.has_value();
  if (event == Event::kTime) act({Action::kRelease});
  if (event == Event::kDone) {
    enter(Phase::kStopped, {});
    return stopped(Event::kWanted);
  }
  if (is_failure(event)) wait(kReleasePauseMs);
  if ((is_failure(event) || (event == Event::kWanted && waits)) && wanted_ != Wanted::kStopped)
    settle();
}

void Lifecycle::stopped(Event event) {
  if (event == Event::kWanted && wanted_ != Wanted::kStopped) settle();
}

// --- a standby

void Lifecycle::preparing(Event event) {
  if (event == Event::kDone) {
    if (phase_ == Phase::kLaunchingStandby)
      return enter(Phase::kComingUp, {Action::kAwaitStanding});
    if (wanted_ == Wanted::kStopped) return settle();
    return enter(Phase::kLaunchingStandby, {Action::kLaunch});
  }
  if (!is_failure(event)) return;
  pause_after(event);
  settle();
}

void Lifecycle::coming_up(Event event) {
  if (event == Event::kShutdown) return discard();
  if (event == Event::kDone) {
    if (wanted_ == Wanted::kStopped) return discard();
    enter(Phase::kPrepared, {Action::kNotePrepared});
    return prepared(Event::kWanted);
  }
  if (is_failure(event)) pause_after(event);
  if (event == Event::kVipsTaken && !stays()) pause_until_ms_ = now_ms_ + kVipRetryMs;
  if (is_failure(event) || event == Event::kVipsTaken) discard();
}

void Lifecycle::prepared(Event event) {
  if (event == Event::kShutdown) return discard();
  if (event == Event::kWanted && stays()) return enter(Phase::kCalling, {Action::kClaimForStandby});
  if (event == Event::kWanted && wanted_ == Wanted::kStopped) return discard();
  if (event != Event::kEnded) return;
  pause_after(event);
  standby_ended();
}

void Lifecycle::calling(Event event) {
  const bool waits = until_ms_.has_value();
  if (event == Event::kShutdown || event == Event::kNotCallable) return discard();
  if (event == Event::kEnded) return standby_ended();
  if (event == Event::kTime) return act({Action::kClaimForStandby});
  const bool is_over = event == Event::kDone || is_failure(event);
  if (!is_over && !(event == Event::kWanted && waits)) return;
  if (!stays()) return discard();
  if (is_failure(event)) return wait(kClaimPauseMs);
  if (event == Event::kDone) enter(Phase::kStarting, {Action::kCall, Action::kAwaitListening});
}

void Lifecycle::discarding(Event event) {
  if (event == Event::kTime) discard();
  if (event == Event::kEnded) standby_ended();
}

// --- it starts

void Lifecycle::starting(Event event) {
  if (event == Event::kDone) return enter(Phase::kAnnouncing, {Action::kTakeVips});
  if (is_failure(event) && stays()) return act({Action::kAwaitListening});
  if (is_unfit(event)) return end_it();
  if (event == Event::kWanted && !stays()) return reap({Action::kSilence, Action::kKill});
  if (event == Event::kEnded) crashed();
}

void Lifecycle::adopted(Event event) {
  const bool is_asked = event == Event::kTime || event == Event::kWanted;
  if (is_asked && !stays()) return retire();  // also what was not wanted when it was found
  if (event == Event::kTime) return act({Action::kAwaitListening});
  if (event == Event::kUnproved) return act({Action::kHideVips});
  starting(event);
}

void Lifecycle::announcing(Event event) {
  if (event == Event::kTime) return act({Action::kTakeVips});
  if (event == Event::kDone) {
    policy_.served(now_ms_);
    return enter(Phase::kServing, {Action::kNoteServing});
  }
  if (event == Event::kFailed) wait(kPlanPauseMs);
  if (event == Event::kConflict) wait(kHiddenLookMs);
  if (event == Event::kVipsTaken) wait(kVipRetryMs);
  if (event == Event::kUnproved) {
    act({Action::kHideVips});
    wait(kHiddenLookMs);
  }
  if (is_unfit(event)) return end_it();
  if (event == Event::kWanted && !stays()) return retire();
  if (event == Event::kEnded) crashed();
}

// --- it serves

void Lifecycle::serving(Event event) {
  const bool shown = phase_ == Phase::kServing;
  if (event == Event::kUnproved && shown) enter(Phase::kHidden, {Action::kHideVips});
  if (event == Event::kProved && !shown) enter(Phase::kServing, {Action::kShowVips});
  if (event == Event::kStill || event == Event::kTold) return end_it();
  // A successor cannot claim what the store cannot be asked for.
  if (event == Event::kRestart && shown) return retire();
  if (event == Event::kWanted && !stays()) return retire();
  if (event == Event::kEnded) crashed();
}

// --- it goes

void Lifecycle::retire() {
  const bool shown = phase_ != Phase::kHidden;
  enter(shown ? Phase::kRetiring : Phase::kRetiringHidden, {Action::kRetire});
}

void Lifecycle::retiring(Event event) {
  const bool shown = phase_ == Phase::kRetiring;
  // The last replies need the VIPs, too.
  if (event == Event::kUnproved && shown) return enter(Phase::kRetiringHidden, {Action::kHideVips});
  if (event == Event::kProved && !shown) return enter(Phase::kRetiring, {Action::kShowVips});
  if (event == Event::kDrained) return enter(Phase::kSilenced, {Action::kSilence});
  if (event == Event::kEnded) return departed();
  if (event == Event::kDone || is_failure(event) || event == Event::kStill || event == Event::kTold)
    reap({Action::kSilence, Action::kKill});
}

void Lifecycle::silenced(Event event) {
  if (event == Event::kEnded) return departed();
  if (event == Event::kDone || is_failure(event) || event == Event::kStill || event == Event::kTold)
    reap({Action::kKill});
}

// It may survive SIGKILL for as long as its I/O hangs.
void Lifecycle::reap(std::vector<Action> actions) {
  enter(Phase::kReaping, std::move(actions));
  wait(kKillTimeoutMs);
}

void Lifecycle::reaping(Event event) {
  if (event == Event::kTime) reap({Action::kSilence, Action::kKill});
  if (event == Event::kEnded) departed();
}

void Lifecycle::end_it() {
  enter(Phase::kEnding, {Action::kHideVips, Action::kKill});
  wait(kKillTimeoutMs);
}

void Lifecycle::ending(Event event) {
  if (event == Event::kTime) end_it();
  if (event == Event::kEnded) crashed();
}

void Lifecycle::discard() {
  enter(Phase::kDiscarding, {Action::kKill});
  wait(kKillTimeoutMs);
}

// --- it has ended

void Lifecycle::crashed() {
  pause_until_ms_ = now_ms_ + policy_.ended(now_ms_);
  enter(Phase::kFencing, {Action::kBury, Action::kFence});
}

void Lifecycle::departed() {
  policy_.reset();
  pause_until_ms_ = 0;
  enter(Phase::kFencing, {Action::kDepart, Action::kFence});
}

// It has had nothing that could reach a LUN; but it may have been claimed for.
void Lifecycle::standby_ended() { enter(Phase::kFencing, {Action::kDropStandby, Action::kFence}); }

// --- steps

void Lifecycle::enter(Phase phase, std::vector<Action> actions) {
  phase_ = phase;
  until_ms_.reset();
  act(std::move(actions));
}

void Lifecycle::act(std::vector<Action> actions) {
  actions_.insert(actions_.end(), actions.begin(), actions.end());
}

// A conflict with a change of somebody else is no failure of the instance, and what could not be
// prepared is done in another way when it is wanted by now.
void Lifecycle::pause_after(Event failure) {
  const bool is_standby = phase_ == Phase::kPreparing || phase_ == Phase::kLaunchingStandby ||
                          phase_ == Phase::kComingUp;
  std::int64_t pause_ms = kConflictPauseMs;
  if (failure != Event::kConflict) pause_ms = policy_.ended(now_ms_);
  pause_until_ms_ = is_standby && stays() ? 0 : now_ms_ + pause_ms;
}

// REQUIRES: it is fenced.
void Lifecycle::settle() {
  if (wanted_ == Wanted::kStopped) return enter(Phase::kReleasing, {Action::kRelease});
  if (now_ms_ < pause_until_ms_) {
    enter(Phase::kWaiting, {});
    until_ms_ = pause_until_ms_;
    return;
  }
  if (stays()) return enter(Phase::kClaiming, {Action::kClaim});
  enter(Phase::kPreparing, {Action::kPlanStandby});
}

}  // namespace symnas::vnfsd::instance
