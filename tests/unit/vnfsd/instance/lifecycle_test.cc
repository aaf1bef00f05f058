#include "vnfsd/instance/lifecycle.h"

#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vnfsd/instance/limits.h"

namespace symnas::vnfsd::instance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kNowMs = 1'000'000;
constexpr Wanted kAllWanted[] = {Wanted::kStarted, Wanted::kStopped, Wanted::kPrepared};
constexpr std::string_view kWantedNames[] = {"started", "stopped", "prepared"};

// --- the table of docs/architecture/lifecycle.md

// "serving: note-serving", "+500 ms", ...; "": nothing happens.
std::string effect_of(Phase phase, Event event, Wanted wanted) {
  Lifecycle life(phase, wanted);
  std::string text;
  for (const Action action : life.step(event, kNowMs)) text += fmt::format(" {}", name_of(action));
  const auto until = life.until();
  const bool waits = until && *until > kNowMs;
  if (life.phase() == phase && text.empty() && !waits) return "";
  std::string out{name_of(life.phase())};
  if (!text.empty()) out += ":" + text;
  if (waits) out += fmt::format(" (time after {} ms)", *until - kNowMs);
  return out;
}

// All that a phase answers to, one line for each answer.
std::string section_of(Phase phase) {
  std::string out{name_of(phase)};
  out += "\n";
  constexpr std::size_t kWidth = 90;
  std::string nothing = "  nothing at:";
  std::size_t begins = 0;  // its last line
  for (int n = 0; n < kEvents; ++n) {
    const auto event = static_cast<Event>(n);
    std::map<std::string, std::string> by_effect;  // wanted states
    std::string last;
    for (const Wanted wanted : kAllWanted) {
      last = effect_of(phase, event, wanted);
      std::string& names = by_effect[last];
      names += (names.empty() ? "" : "|") + std::string(kWantedNames[static_cast<int>(wanted)]);
    }
    if (by_effect.size() == 1 && last.empty()) {
      if (nothing.size() - begins > kWidth) {
        nothing += "\n   ";
        begins = nothing.size();
      }
      nothing += fmt::format(" {}", name_of(event));
      continue;
    }
    for (const auto& [effect, names] : by_effect) {
      const std::string when = by_effect.size() == 1 ? "" : fmt::format(" [{}]", names);
      out += fmt::format("  {}{} -> {}\n", name_of(event), when, effect.empty() ? "-" : effect);
    }
  }
  return out + nothing + "\n";
}

TEST(LifecycleTest, EveryPairOfPhaseAndEventIsInTheDocument) {
  std::string table;
  for (int n = 0; n < kPhases; ++n) table += section_of(static_cast<Phase>(n)) + "\n";
  std::ifstream file(SYMNAS_LIFECYCLE_PAGE);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const auto begin = page.find("```text\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string shown = page.substr(begin + 8, page.find("\n```", begin) - begin - 8);
  EXPECT_TRUE(shown + "\n\n" == table) << "the table in docs/architecture/lifecycle.md is to be:\n"
                                       << table;
}

// --- what must hold on every way

// Walks the machine at random, as a supervisor does: a task is waited for, with an eye on the
// pulse.
class Walk {
 public:
  explicit Walk(unsigned seed) : dice_(seed) {}

  void run(int steps) {
    take(life_.step(Event::kTime, now_ms_));
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) one();
  }

 private:
  unsigned below(unsigned bound) {
    dice_ = dice_ * 1664525U + 1013904223U;
    return (dice_ >> 8U) % bound;
  }

  void one() {
    now_ms_ += below(300);
    if (task_) return below(2) == 0 ? pulse() : complete();
    if (below(6) == 0) return take(life_.want(kAllWanted[below(3)], now_ms_));
    if (runs_ && below(8) == 0) {
      runs_ = false;
      return take(life_.step(Event::kEnded, now_ms_));
    }
    if (life_.until() && *life_.until() <= now_ms_) return take(life_.step(Event::kTime, now_ms_));
    pulse();
  }

  void complete() {
    constexpr Event kOutcomes[] = {Event::kDone, Event::kDone, Event::kDone, Event::kFailed,
                                   Event::kConflict};
    const Action task = *std::exchange(task_, std::nullopt);
    Event outcome = kOutcomes[below(5)];
    if (task == Action::kTakeVips && below(3) == 0) outcome = Event::kVipsTaken;
    if (task == Action::kAwaitListening && below(4) == 0) outcome = Event::kUnfit;
    if (task == Action::kClaimForStandby && below(4) == 0) outcome = Event::kNotCallable;
    if (outcome == Event::kDone) done(task);
    if (below(3) == 0) {  // what is wanted by now counts first
      const Phase phase = life_.phase();
      take(life_.want(kAllWanted[below(3)], now_ms_));
      if (life_.phase() != phase) return;
    }
    take(life_.step(outcome, now_ms_));
  }

  void pulse() {
    if (!runs_) return;
    constexpr Event kEvents[] = {Event::kProved,  Event::kUnproved, Event::kStill,
                                 Event::kDrained, Event::kTold,     Event::kRestart};
    const bool retires = task_ == Action::kRetire;
    const Event event = kEvents[below(30) == 0 ? 2 + below(task_ ? 1 + retires : 4) : below(2)];
    if (event == Event::kUnproved) proved_ = false;
    if (event == Event::kProved) proved_ = true;
    take(life_.step(event, now_ms_));
  }

  void done(Action task) {
    if (task == Action::kFence) fenced_ = true;
    if (task == Action::kClaim || task == Action::kClaimForStandby) claimed_ = true;
    if (task == Action::kPlanStandby) claimed_ = false;
    if (task == Action::kLaunch) runs_ = true;
    if (task == Action::kRelease) claimed_ = false;
  }

  void take(const std::vector<Action>& actions) {
    for (const Action action : actions) {
      check(action);
      if (is_task(action)) {
        EXPECT_EQ(action, actions.back()) << "a task is the last";
        EXPECT_FALSE(task_) << name_of(action) << " beside " << name_of(*task_);
        task_ = action;
      }
    }
  }

  void check(Action action) {
    const std::string at = fmt::format("{} in {}", name_of(action), name_of(life_.phase()));
    switch (action) {
      case Action::kClaim:
      case Action::kPlanStandby:
      case Action::kRelease: EXPECT_TRUE(fenced_ && !runs_) << at; break;
      case Action::kLaunch:
        EXPECT_TRUE(!runs_ && fenced_) << at;
        EXPECT_EQ(claimed_, life_.phase() == Phase::kLaunching) << at;
        fenced_ = life_.phase() == Phase::kLaunchingStandby;
        killed_ = silenced_ = false;
        proved_ = true;
        break;
      case Action::kCall:
        EXPECT_TRUE(claimed_ && runs_) << at;
        fenced_ = false;
        break;
      case Action::kShowVips:
      case Action::kTakeVips: EXPECT_TRUE(!killed_ && !silenced_) << at; break;
      case Action::kSilence: silenced_ = true; break;
      case Action::kKill: killed_ = true; break;
      case Action::kFence: EXPECT_FALSE(runs_) << at; break;
      default: break;
    }
    if (action == Action::kShowVips) {
      EXPECT_TRUE(proved_) << at;
    }
  }

  Lifecycle life_{Phase::kFencing, Wanted::kStarted};
  unsigned dice_;
  std::int64_t now_ms_ = kNowMs;
  std::optional<Action> task_;
  bool runs_ = false;
  bool fenced_ = false;
  bool claimed_ = false;
  bool killed_ = false;
  bool silenced_ = false;
  bool proved_ = true;
};

TEST(LifecycleTest, NothingStartsUnfencedOrUnclaimedAndNothingKilledIsShown) {
  for (unsigned seed = 1; seed <= 2'000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Walk(seed).run(300);
  }
}

// --- ways

class LifecycleWay : public testing::Test {
 protected:
  std::vector<Action> step(Event event) { return life.step(event, now_ms); }

  Lifecycle life{Phase::kFencing, Wanted::kStarted};
  std::int64_t now_ms = kNowMs;
};

TEST_F(LifecycleWay, AStart) {
  EXPECT_THAT(step(Event::kTime), ElementsAre(Action::kFence));
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kClaim));
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kLaunch));
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kAwaitListening));
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kTakeVips));
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kNoteServing));
  EXPECT_EQ(life.phase(), Phase::kServing);
  EXPECT_THAT(step(Event::kDone), IsEmpty());
  EXPECT_FALSE(life.until());
}

TEST_F(LifecycleWay, AMoveAway) {
  life = Lifecycle(Phase::kServing, Wanted::kStarted);
  EXPECT_THAT(life.want(Wanted::kStopped, now_ms), ElementsAre(Action::kRetire));
  EXPECT_THAT(step(Event::kUnproved), ElementsAre(Action::kHideVips));
  EXPECT_THAT(step(Event::kProved), ElementsAre(Action::kShowVips)) << "for the last replies";
  EXPECT_THAT(step(Event::kDrained), ElementsAre(Action::kSilence));
  EXPECT_THAT(step(Event::kProved), IsEmpty());
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kKill));
  EXPECT_THAT(step(Event::kEnded), ElementsAre(Action::kDepart, Action::kFence));
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kRelease));
  EXPECT_THAT(step(Event::kDone), IsEmpty());
  EXPECT_EQ(life.phase(), Phase::kStopped);
}

TEST_F(LifecycleWay, AStandbyIsCalled) {
  life = Lifecycle(Phase::kFencing, Wanted::kPrepared);
  step(Event::kTime);
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kPlanStandby));
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kLaunch));
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kAwaitStanding));
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kNotePrepared));
  EXPECT_THAT(life.want(Wanted::kStarted, now_ms), ElementsAre(Action::kClaimForStandby));
  EXPECT_THAT(step(Event::kConflict), IsEmpty()) << "its clients wait: soon again";
  EXPECT_EQ(life.until(), now_ms + 50);
  EXPECT_THAT(step(Event::kTime), ElementsAre(Action::kClaimForStandby));
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kCall, Action::kAwaitListening));
}

TEST_F(LifecycleWay, AClaimThatNobodyWantsAnyMoreIsGivenUp) {
  life = Lifecycle(Phase::kClaiming, Wanted::kStarted);
  EXPECT_THAT(life.want(Wanted::kStopped, now_ms), IsEmpty()) << "it is under way";
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kFence));
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kRelease));
}

TEST_F(LifecycleWay, AClaimForAStandbyThatIsUnderWayIsAwaited) {
  life = Lifecycle(Phase::kPrepared, Wanted::kPrepared);
  life.want(Wanted::kStarted, now_ms);
  EXPECT_THAT(life.want(Wanted::kStopped, now_ms), IsEmpty());
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kKill)) << "not called";
  EXPECT_THAT(step(Event::kEnded), ElementsAre(Action::kDropStandby, Action::kFence));
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kRelease)) << "it may own the VNFS";
}

TEST_F(LifecycleWay, ACrashIsFollowedByTheFenceAndAStartAtOnceTheSecondOneByAPause) {
  life = Lifecycle(Phase::kServing, Wanted::kStarted);
  EXPECT_THAT(step(Event::kEnded), ElementsAre(Action::kBury, Action::kFence));
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kClaim));
  step(Event::kDone);
  step(Event::kDone);
  EXPECT_THAT(step(Event::kEnded), ElementsAre(Action::kBury, Action::kFence));
  EXPECT_THAT(step(Event::kDone), IsEmpty());
  EXPECT_EQ(life.phase(), Phase::kWaiting);
  EXPECT_EQ(life.until(), now_ms + kRestartPauseMinMs);
}

TEST_F(LifecycleWay, WhoStandsStillIsKilledAndKilledAgainForAsLongAsItsDeathTakes) {
  life = Lifecycle(Phase::kHidden, Wanted::kStarted);
  EXPECT_THAT(step(Event::kStill), ElementsAre(Action::kHideVips, Action::kKill));
  EXPECT_THAT(step(Event::kProved), IsEmpty()) << "its VIPs stay down";
  now_ms = *life.until();
  EXPECT_THAT(step(Event::kTime), ElementsAre(Action::kHideVips, Action::kKill));
  EXPECT_THAT(life.want(Wanted::kStopped, now_ms), IsEmpty());
  EXPECT_THAT(step(Event::kEnded), ElementsAre(Action::kBury, Action::kFence));
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kRelease));
}

TEST_F(LifecycleWay, AnAdoptedOneThatRetiredIsKilledAndAStandbyThatWasLeftIsDropped) {
  life = Lifecycle(Phase::kReaping, Wanted::kStarted);
  EXPECT_THAT(step(Event::kTime), ElementsAre(Action::kSilence, Action::kKill));
  life = Lifecycle(Phase::kDiscarding, Wanted::kStarted);
  EXPECT_THAT(step(Event::kTime), ElementsAre(Action::kKill));
  EXPECT_THAT(step(Event::kEnded), ElementsAre(Action::kDropStandby, Action::kFence));
  EXPECT_THAT(step(Event::kDone), ElementsAre(Action::kClaim));
}

TEST_F(LifecycleWay, AnAdoptedOneThatIsNotWantedAnyMoreRetires) {
  life = Lifecycle(Phase::kAdopted, Wanted::kStopped);
  EXPECT_THAT(step(Event::kTime), ElementsAre(Action::kRetire));
}

TEST(LifecycleNamesTest, EveryNameIsAnothers) {
  std::map<std::string_view, int> seen;
  for (int n = 0; n < kPhases; ++n) ++seen[name_of(static_cast<Phase>(n))];
  EXPECT_EQ(std::ssize(seen), kPhases);
  seen.clear();
  for (int n = 0; n < kEvents; ++n) ++seen[name_of(static_cast<Event>(n))];
  EXPECT_EQ(std::ssize(seen), kEvents);
}

}  // namespace
}  // namespace symnas::vnfsd::instance
