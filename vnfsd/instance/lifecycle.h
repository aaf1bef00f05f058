// Lifecycle: what becomes of one VNFS on one head: fenced, claimed, started, served, moved away. A
// pure machine: the caller brings events and the time, and carries out the actions. Everything that
// decides when an instance is started, killed, shown to clients and given up is here; the
// supervisor and the simulation run the same machine. Thread-compatible.
//
// Invariants: an instance is launched, or a standby called, only after a claim that succeeded, and
// nothing is claimed for a launch before kFence succeeded after the last instance (INV-1, INV-8);
// ownership is given up only after such a fence; VIPs are shown only while the last word of the
// pulse was that the instance may answer, and never again after kSilence or of an instance that is
// being killed.
//
// docs/architecture/lifecycle.md is the whole table: what each event does in each phase.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "vnfsd/instance/restart_policy.h"
#include "vnfsd/plans/wanted.h"
#include "vnfsd/records/instance_standing.h"

namespace symnas::vnfsd::instance {

using vnfsd::Wanted;

enum class Phase : unsigned char {
  kFencing,           // nothing runs; what has run may still reach a LUN
  kWaiting,           // fenced; a pause before the next try
  kClaiming,          // fenced; ownership is being taken
  kLaunching,         // owned; the process is being made
  kPreparing,         // a standby is being planned, without ownership
  kLaunchingStandby,  // its process is being made
  kComingUp,          // it comes to its claim
  kPrepared,          // it waits for its claim
  kCalling,           // ownership is being taken for it
  kDiscarding,        // it was killed: it is not needed
  kStarting,          // owned; the process does not listen yet
  kAdopted,           // the same, but it may have served before this vnfsd started
  kAnnouncing,        // it listens; its VIPs are being taken
  kServing,
  kHidden,          // cannot prove that it may answer: its VIPs are down until it can
  kRetiring,        // was told to finish what it has begun, and nothing more
  kRetiringHidden,  // the same, with its VIPs down as in kHidden
  kSilenced,        // has answered everything; its VIPs are gone; it closes its mounts
  kReaping,         // was killed after that, or instead of that
  kEnding,          // was killed because it cannot go on
  kReleasing,       // fenced; ownership is being given up
  kStopped,
};
inline constexpr int kPhases = static_cast<int>(Phase::kStopped) + 1;

enum class Event : unsigned char {
  kTime,         // until() has come
  kWanted,       // another state is wanted
  kDone,         // the task that was asked for succeeded
  kFailed,       // it failed, and has changed nothing that matters
  kConflict,     // it met somebody else's transaction, or it is too early: soon again
  kUnfit,        // it failed, and the instance cannot go on
  kVipsTaken,    // it found all VIPs in use by others
  kNotCallable,  // the VNFS was claimed, but the standby does not fit what was claimed
  kDrained,      // the retiring instance has answered everything that it will answer
  kProved,       // the pulse: the instance may answer
  kUnproved,     // the pulse: it could not prove that for some time
  kStill,        // the pulse: it stands still
  kTold,         // somebody has ordered the instance's end
  kRestart,      // somebody has ordered its restart, and its successor can be planned
  kEnded,        // its process has ended
  kShutdown,     // vnfsd ends: instances go on, standbys do not
};
inline constexpr int kEvents = static_cast<int>(Event::kShutdown) + 1;

// Those from kFence on are tasks: they take time, are the last action of a step, and are answered
// by one of kDone to kNotCallable.
enum class Action : unsigned char {
  kNotePrepared,  // tell the head that the standby waits
  kCall,          // tell the standby what it owns
  kShowVips,
  kHideVips,     // until kShowVips
  kSilence,      // take the VIPs away for good, and note who was connected
  kKill,         // SIGKILL; kEnded follows
  kBury,         // it has ended by itself, or was unfit
  kDepart,       // it has ended as was wanted
  kDropStandby,  // it has ended before it was called
  kFence,
  kClaim,
  kClaimForStandby,
  kPlanStandby,
  kLaunch,
  kAwaitStanding,   // until it waits for its claim, and nobody else has its VIPs
  kAwaitListening,  // kFailed: given up because something else is wanted
  kTakeVips,
  kNoteServing,  // wake the clients, tell the head
  kRetire,
  kRelease,
};
constexpr bool is_task(Action action) { return action >= Action::kFence; }

// What people see of the phase.
InstanceStanding standing_of(Phase phase);
std::string_view name_of(Phase phase);
std::string_view name_of(Event event);
std::string_view name_of(Action action);

class Lifecycle {
 public:
  // kFencing: of a head on which no instance of an earlier vnfsd runs; else kAdopted, kReaping (it
  // was retiring) or kDiscarding (a standby). The first event is to be kTime.
  Lifecycle(Phase phase, Wanted wanted) : phase_(phase), wanted_(wanted) {}

  std::vector<Action> step(Event event, std::int64_t now_ms);
  // step(kWanted), if that changes anything.
  std::vector<Action> want(Wanted wanted, std::int64_t now_ms);

  Phase phase() const { return phase_; }
  Wanted wanted() const { return wanted_; }
  // When kTime is due, on the caller's clock; nullopt: not before something else happens.
  std::optional<std::int64_t> until() const { return until_ms_; }

 private:
  void fencing(Event event);
  void waiting(Event event);
  void claiming(Event event);
  void launching(Event event);
  void releasing(Event event);
  void stopped(Event event);
  void preparing(Event event);
  void coming_up(Event event);
  void prepared(Event event);
  void calling(Event event);
  void discarding(Event event);
  void starting(Event event);
  void adopted(Event event);
  void announcing(Event event);
  void serving(Event event);
  void retiring(Event event);
  void silenced(Event event);
  void reaping(Event event);
  void ending(Event event);

  bool stays() const { return wanted_ == Wanted::kStarted; }
  void enter(Phase phase, std::vector<Action> actions);
  void act(std::vector<Action> actions);
  void wait(std::int64_t ms) { until_ms_ = now_ms_ + ms; }
  void pause_after(Event failure);
  void settle();
  void end_it();
  void retire();
  void reap(std::vector<Action> actions);
  void discard();
  void crashed();
  void departed();
  void standby_ended();

  Phase phase_;
  Wanted wanted_;
  std::optional<std::int64_t> until_ms_ = 0;
  std::int64_t pause_until_ms_ = 0;  // nothing is started before
  RestartPolicy policy_;
  // Of the step that is being made.
  std::int64_t now_ms_ = 0;
  std::vector<Action> actions_;
};

// Carries out the actions of a step, and those of the steps that their outcomes lead to.
// `carry_out`: does the actions of one step, and says what came of the last one, if anything is to
// be said. `wanted`, `now_ms`: what is wanted by then, and the time.
template <class CarryOut, class WantedNow, class Now>
void perform(Lifecycle& life, std::vector<Action> actions, const CarryOut& carry_out,
             const WantedNow& wanted, const Now& now_ms) {
  std::optional<Event> outcome = carry_out(actions);
  while (outcome) {
    const Phase phase = life.phase();
    actions = life.want(wanted(), now_ms());
    // What is wanted by now has led elsewhere: what came of the task does not count any more.
    if (life.phase() == phase) actions = life.step(*outcome, now_ms());
    outcome = carry_out(actions);
  }
}

}  // namespace symnas::vnfsd::instance
