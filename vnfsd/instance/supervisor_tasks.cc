// Supervisor: the actions that take time. Each says what came of it.
#include <future>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/instance/crash_point.h"
#include "vnfsd/instance/launcher.h"
#include "vnfsd/instance/retire.h"
#include "vnfsd/instance/supervisor.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr std::int64_t kListenSliceMs = 100;  // how soon a stop is heard while an instance starts
constexpr const char* kNoProofYet =
    "it cannot prove that it may answer, because etcd does not (symnas status shows its members; "
    "it goes on by itself)";

}  // namespace

Event Supervisor::failed(const Error& error) {
  say(error.message);
  return error.code == ErrorCode::kConflict ? Event::kConflict : Event::kFailed;
}

Event Supervisor::unfit(const Error& error) {
  course_.unfit = error.message;
  return Event::kUnfit;
}

Event Supervisor::run_task(Action task) {
  switch (task) {
    case Action::kFence: return fence();
    case Action::kClaim: return claim(std::nullopt);
    case Action::kClaimForStandby: return claim(live_.epoch());
    case Action::kPlanStandby: return plan_standby();
    case Action::kLaunch: return launch();
    case Action::kAwaitStanding: return await_standing();
    case Action::kAwaitListening: return await_listening();
    case Action::kTakeVips: return take_vips();
    case Action::kNoteServing: return note_serving();
    case Action::kRetire: return retire();
    default: return release();
  }
}

Event Supervisor::fence() {
  if (const Status fenced = host_.fence(vnfs_); !fenced) return failed(fenced.error());
  partings_.proved();
  return Event::kDone;
}

Event Supervisor::claim(std::optional<Epoch> prepared) {
  auto plan = host_.claim(vnfs_, prepared);
  if (!plan) return failed(plan.error());
  const bool fits = !prepared || may_call(plan_, *plan);
  if (!prepared) {
    partings_.claimed_anew();
    partings_.arrives(step::kClaimed);
  } else {
    say("");
  }
  plan_ = std::move(*plan);
  plan_is_fresh_ = true;
  return fits ? Event::kDone : Event::kNotCallable;
}

Event Supervisor::plan_standby() {
  auto plan = host_.prepare(vnfs_);
  if (!plan) return failed(plan.error());
  plan_ = std::move(*plan);
  partings_.new_arrival();
  return Event::kDone;
}

Event Supervisor::launch() {
  const bool has_time = plan_.standby && !plan_.is_awaited;
  const auto launched = [&]() -> Status {
    SYMNAS_ASSIGN(const std::string conf, render_ganesha_conf(plan_, fsal_));
    SYMNAS_TRY(prepare_directory(plan_, conf));
    partings_.launched(plan_.epoch);
    vips_.begin(/*up=*/false);
    vips_.ask(plan_, has_time ? kVipAskMs : kVipAskMinMs);
    return live_.launch(plan_);
  }();
  if (!launched) return failed(launched.error());
  course_ = {};
  pulse_.begin();
  if (plan_.standby) {
    crash_point("standby launched", vnfs_);
  } else {
    partings_.arrives(step::kLaunched);
    say("");
  }
  return Event::kDone;
}

Event Supervisor::await_standing() {
  const Status standing = wait_standing_by(live_.process(), paths_.control, kStandbyTimeoutMs);
  if (!standing) return failed(standing.error());
  crash_point("prepared", vnfs_);
  if (const Status looked = vips_.look_for_holders(plan_); !looked) return failed(looked.error());
  if (vips_.holds_back()) {
    say(vips_.held_text());
    return Event::kVipsTaken;
  }
  partings_.arrives(step::kPrepared);
  return Event::kDone;
}

// An adopted instance may have been left anywhere on the way to serving: what is done already is
// done again without effect.
Event Supervisor::await_listening() {
  const std::int64_t until = now_ms() + kListenTimeoutMs;
  for (;;) {
    const Status listening = wait_listening(live_.process(), live_.netns(), kListenSliceMs);
    if (listening) break;
    if (listening.error().code != ErrorCode::kUnavailable) return unfit(listening.error());
    if (requests_.ending() || requests_.wanted() != Wanted::kStarted) return Event::kFailed;
    if (now_ms() >= until) {
      return unfit({ErrorCode::kUnavailable,
                    fmt::format("instance: does not listen after {} ms (its log is {})",
                                kListenTimeoutMs, paths_.log)});
    }
  }
  crash_point("listening", vnfs_);
  if (!vips_.holds_back()) partings_.arrives(step::kListening);
  return Event::kDone;
}

// One that was adopted may have lost its proof, and another head may serve its VIPs: it is waited
// for. nullopt: it may answer.
std::optional<Event> Supervisor::no_proof() {
  look_at_pulse();
  if (life_.phase() != Phase::kAnnouncing) return Event::kFailed;  // nobody hears it any more
  if (pulse_.may_answer()) return std::nullopt;
  say(kNoProofYet);
  return Event::kConflict;
}

Event Supervisor::take_vips() {
  if (const auto not_yet = no_proof()) return *not_yet;
  auto plan = std::exchange(plan_is_fresh_, false) ? Result<InstancePlan>(plan_) : read_plan();
  if (!plan) return failed(plan.error());
  add_missing(plan->connections, partings_.left());
  live_.await_burial();
  if (const auto not_yet = no_proof()) return *not_yet;  // reading the plan may have taken long
  const auto up = vips_.take(*plan);
  if (!up) return unfit(up.error());
  if (*up == VipKeeper::Up::kTaken) {
    say(fmt::format("{}: not taken before nobody answers for it any more (it is asked every {} s)",
                    vips_.held_text(), kVipRetryMs / 1000));
    return Event::kVipsTaken;
  }
  partings_.take_left();
  requests_.forget_end();  // what was said of it while it started
  crash_point("announced", vnfs_);
  plan_.connections = std::move(plan->connections);
  return Event::kDone;
}

Event Supervisor::note_serving() {
  partings_.arrives(step::kServing);
  partings_.woken(std::move(plan_.connections));
  log::info("vnfs {}: serving: {}", vnfs_, live_.name());
  const Arrival arrival = partings_.take_arrival();
  const Status told =
      await(std::async(std::launch::async, [&] { return host_.served(vnfs_, arrival); }));
  if (!told) log::warn("{}", told.error().message);
  if (life_.phase() == Phase::kServing) show_serving();
  return Event::kDone;
}

// The instance's clients get every answer to the requests that it has begun, and nothing that would
// make them give up.
Event Supervisor::retire() {
  say("");
  partings_.begin_farewell(live_.epoch());
  live_.note_retiring();  // before it is told: the next vnfsd must not take it for one that serves
  const std::int64_t began_ns = clock_.wall_ns();
  partings_.departs(step::kRetiring, began_ns);
  const auto note = [&](std::string_view name, std::int64_t ms) {
    partings_.departs(name, began_ns + ms * 1'000'000);
  };
  std::int64_t finished_ms = 0;
  crash_point("retiring", vnfs_);
  std::promise<std::optional<Drained>> said;
  auto saying = said.get_future();
  auto closing = std::async(std::launch::async, [&] {
    bool drained = false;
    auto closed = instance::retire(paths_.control, kRetireTimeoutMs, [&](const Drained& what) {
      drained = true;
      said.set_value(what);
    });
    if (!drained) said.set_value(std::nullopt);
    return closed;
  });
  if (const auto drained = await(std::move(saying))) {
    finished_ms = drained->requests_ms;
    note(step::kFinished, finished_ms);
    note(step::kAcknowledged, finished_ms + drained->replies_ms);
    partings_.farewell().departure.set_kept(drained->kept);
    partings_.farewell().departure.set_error(drained->unsent);
    partings_.farewell().connections = drained->connections;
    crash_point("drained", vnfs_);
    carry_out(life_.step(Event::kDrained, now_ms()));
  }
  const auto closed = closing.get();
  if (closed) {
    note(step::kClosed, finished_ms + *closed);
    return Event::kDone;
  }
  log::warn("vnfs {}: killed without its farewell: {}", vnfs_, closed.error().message);
  partings_.farewell().departure.set_error(closed.error().message);
  return Event::kFailed;
}

Event Supervisor::release() {
  const Farewell words = partings_.final_words(live_.state().connections);
  crash_point("fenced", vnfs_);
  // An instance's end came before anybody took its VIPs away: they go with its links.
  if (vips_.up()) live_.await_burial();
  const Status released = host_.release(vnfs_, words);
  crash_point("released", vnfs_);
  if (!released) return failed(released.error());
  say("");
  return Event::kDone;
}

}  // namespace symnas::vnfsd::instance
