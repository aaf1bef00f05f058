// Lifecycle: names of phases, events and actions, for people and documents.
#include <iterator>

#include "vnfsd/instance/lifecycle.h"

namespace symnas::vnfsd::instance {

InstanceStanding standing_of(Phase phase) {
  switch (phase) {
    case Phase::kFencing: return InstanceStanding::kFencing;
    case Phase::kWaiting: return InstanceStanding::kWaiting;
    case Phase::kClaiming:
    case Phase::kLaunching:
    case Phase::kPreparing:
    case Phase::kLaunchingStandby:
    case Phase::kComingUp:
    case Phase::kCalling:
    case Phase::kStarting:
    case Phase::kAdopted:
    case Phase::kAnnouncing: return InstanceStanding::kStarting;
    case Phase::kPrepared: return InstanceStanding::kPrepared;
    case Phase::kServing:
    case Phase::kHidden: return InstanceStanding::kServing;
    case Phase::kDiscarding:
    case Phase::kRetiring:
    case Phase::kRetiringHidden:
    case Phase::kSilenced:
    case Phase::kReaping:
    case Phase::kEnding:
    case Phase::kReleasing: return InstanceStanding::kStopping;
    case Phase::kStopped: return InstanceStanding::kStopped;
  }
  return InstanceStanding::kStopped;
}

std::string_view name_of(Phase phase) {
  constexpr std::string_view kNames[] = {
      "fencing",    "waiting",  "claiming",  "launching",  "preparing",       "launching-standby",
      "coming-up",  "prepared", "calling",   "discarding", "starting",        "adopted",
      "announcing", "serving",  "hidden",    "retiring",   "retiring-hidden", "silenced",
      "reaping",    "ending",   "releasing", "stopped"};
  static_assert(std::size(kNames) == kPhases);
  return kNames[static_cast<int>(phase)];
}

std::string_view name_of(Event event) {
  constexpr std::string_view kNames[] = {"time",     "wanted",  "done",       "failed",
                                         "conflict", "unfit",   "vips-taken", "not-callable",
                                         "drained",  "proved",  "unproved",   "still",
                                         "told",     "restart", "ended",      "shutdown"};
  static_assert(std::size(kNames) == kEvents);
  return kNames[static_cast<int>(event)];
}

std::string_view name_of(Action action) {
  constexpr std::string_view kNames[] = {
      "note-prepared", "call",         "show-vips",      "hide-vips",
      "silence",       "kill",         "bury",           "depart",
      "drop-standby",  "fence",        "claim",          "claim-for-standby",
      "plan-standby",  "launch",       "await-standing", "await-listening",
      "take-vips",     "note-serving", "retire",         "release"};
  static_assert(std::size(kNames) == static_cast<int>(Action::kRelease) + 1);
  return kNames[static_cast<int>(action)];
}

}  // namespace symnas::vnfsd::instance
