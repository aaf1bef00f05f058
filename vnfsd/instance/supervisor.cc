#include "vnfsd/instance/supervisor.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/keytab_writer.h"
#include "vnfsd/instance/launcher.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr std::int64_t kRestartLookMs = 1000;  // between looks whether an instance can be restarted
constexpr std::int64_t kWritePauseMs = 500;    // after an instance file that could not be written

bool is_standby(Phase phase) {
  return phase == Phase::kComingUp || phase == Phase::kPrepared || phase == Phase::kCalling ||
         phase == Phase::kDiscarding;
}

}  // namespace

Supervisor::Supervisor(std::string vnfs, InstancePaths paths, std::string incarnation, Host& host,
                       const FsalBlocks& fsal, const env::Clock& clock, Wanted wanted)
    : vnfs_(std::move(vnfs)),
      paths_(std::move(paths)),
      incarnation_(std::move(incarnation)),
      host_(host),
      fsal_(fsal),
      clock_(clock),
      requests_(wanted),
      live_(vnfs_, paths_, clock),
      vips_(vnfs_, host, live_, requests_, clock),
      pulse_(vnfs_, requests_, clock),
      partings_(requests_, clock),
      log_(vnfs_, paths_.log),
      exports_(vnfs_, host, fsal, [this] { requests_.wake(); }),
      life_(Phase::kFencing, wanted) {
  thread_ = std::thread([this] { run(); });
}

Supervisor::~Supervisor() {
  requests_.end();
  thread_.join();
}

void Supervisor::run() {
  life_ = Lifecycle(adopt(), requests_.wanted());
  publish();
  while (!requests_.ending()) {
    perform(life_.want(requests_.wanted(), now_ms()));
    if (life_.until() && *life_.until() <= now_ms()) happen(Event::kTime);
    look();
    sleep();
  }
  end();
}

// The phase in which an earlier vnfsd has left it.
Phase Supervisor::adopt() {
  const LiveInstance::Left left = live_.adopt(incarnation_);
  if (live_.state().incarnation == incarnation_)
    partings_.left(connections_from(live_.state().connections));
  if (left == LiveInstance::Left::kNothing) return Phase::kFencing;
  if (left == LiveInstance::Left::kStandby) return Phase::kDiscarding;
  vips_.begin(/*up=*/true);
  refresh();  // LUNs may have come while no vnfsd ran
  return left == LiveInstance::Left::kRetiring ? Phase::kReaping : Phase::kAdopted;
}

// What has happened meanwhile.
void Supervisor::look() {
  if (!live_.exists()) return;
  if (auto how = live_.process().wait(0)) {
    course_.end = std::move(*how);
    return happen(Event::kEnded);
  }
  look_at_pulse();
  if (life_.phase() == Phase::kServing || life_.phase() == Phase::kHidden) attend_service();
}

// Until something happens or is asked for.
void Supervisor::sleep() {
  const Phase phase = life_.phase();
  std::int64_t ms = -1;
  if (live_.exists() && !is_standby(phase)) {
    const bool hidden = phase == Phase::kHidden || phase == Phase::kRetiringHidden;
    ms = hidden ? kHiddenLookMs : kPulseLookMs;
  }
  if (life_.until()) {
    const std::int64_t left = std::max<std::int64_t>(0, *life_.until() - now_ms());
    ms = ms < 0 ? left : std::min(ms, left);
  }
  pollfd entries[] = {{requests_.fd(), POLLIN, 0},
                      {live_.exists() ? live_.process().pidfd() : -1, POLLIN, 0}};
  ::poll(entries, 2, static_cast<int>(ms));
  if (entries[0].revents != 0) requests_.sleep(0);
}

// Nobody else will call a standby.
void Supervisor::end() {
  happen(Event::kShutdown);
  if (life_.phase() != Phase::kDiscarding || !live_.exists()) return;
  if (live_.process().wait(kKillTimeoutMs)) live_.lose();
}

// --- the machine

void Supervisor::perform(std::vector<Action> actions) {
  instance::perform(
      life_, std::move(actions), [this](const auto& some) { return carry_out(some); },
      [this] { return requests_.wanted(); }, [this] { return now_ms(); });
}

std::optional<Event> Supervisor::carry_out(const std::vector<Action>& actions) {
  publish();
  std::optional<Event> outcome;
  for (const Action action : actions) {
    if (is_task(action) && requests_.ending()) return std::nullopt;
    outcome = carry_out(action);
    publish();
    if (outcome) break;
  }
  return outcome;
}

std::optional<Event> Supervisor::carry_out(Action action) {
  switch (action) {
    case Action::kNotePrepared: {
      say("");
      log::info("vnfs {}: prepared: {}", vnfs_, live_.name());
      publish();
      host_.prepared(vnfs_);
      return std::nullopt;
    }
    case Action::kCall: return call();
    case Action::kShowVips: return show_vips();
    case Action::kHideVips: hide_vips(); return std::nullopt;
    case Action::kSilence: silence(); return std::nullopt;
    case Action::kKill: kill(); return std::nullopt;
    case Action::kBury: bury(); return std::nullopt;
    case Action::kDepart: depart(); return std::nullopt;
    case Action::kDropStandby: drop_standby(); return std::nullopt;
    default: return run_task(action);
  }
}

void Supervisor::look_at_pulse() {
  if (!live_.exists() || is_standby(life_.phase())) return;
  Event event = Event::kProved;
  switch (pulse_.look(live_.pid())) {
    case PulseWatch::Verdict::kDoubt: return;
    case PulseWatch::Verdict::kProved: break;
    case PulseWatch::Verdict::kUnproved: event = Event::kUnproved; break;
    case PulseWatch::Verdict::kStill: event = Event::kStill; break;
  }
  if (event == Event::kStill && course_.unfit.empty())
    course_.unfit = fmt::format("it has stood still for {} ms", kStillMs);
  const auto undone = carry_out(life_.step(event, now_ms()));
  if (undone) carry_out(life_.step(*undone, now_ms()));
}

// --- while it serves

void Supervisor::attend_service() {
  log_.look(now_ms());
  if (auto why = requests_.take_end(live_.epoch())) {
    course_.unfit = std::move(*why);
    return happen(Event::kTold);
  }
  // While its VIPs are down the store is away, and waiting for it would keep them down.
  if (life_.phase() != Phase::kServing) return;
  if (!refreshed() && !exports_.is_telling()) rewrite_instance_file();
  if (partings_.waking_is_due()) wake_clients(partings_.take_unheard(), live_.netns());
  if (life_.phase() == Phase::kServing && vips_.retry_is_due()) {
    auto plan = read_plan();
    if (plan && life_.phase() == Phase::kServing) vips_.take_freed(std::move(*plan));
    if (life_.phase() == Phase::kServing) show_serving();
  }
  // Only while it may answer: another head may have the VIPs otherwise.
  if (life_.phase() == Phase::kServing && vips_.announcement_is_due() && pulse_.may_answer())
    vips_.announce_again();
  if (life_.phase() == Phase::kServing && may_restart()) happen(Event::kRestart);
}

// Whether the instance is to be restarted, and its successor could be started as far as is known:
// until then it goes on.
bool Supervisor::may_restart() {
  if (!requests_.is_restarted(live_.epoch()) || now_ms() < restart_ms_) return false;
  const auto plan = read_plan();
  if (plan) return life_.phase() == Phase::kServing;
  restart_ms_ = now_ms() + kRestartLookMs;
  say(fmt::format("it is not restarted yet: {}", plan.error().message));
  publish();
  return false;
}

void Supervisor::rewrite_instance_file() {
  requests_.take_refresh();
  auto plan = read_plan();
  Status written = plan ? Status() : tl::unexpected<Error>(plan.error());
  if (written) written = live_.remember_luns(*plan);  // before the instance can open them
  if (written) written = write_keytab(*plan);
  if (written) written = write_instance_file(*plan);
  if (written) return exports_.tell(std::move(*plan));
  log::error("vnfs {}: {}: {}", vnfs_, paths_.instance_file, written.error().message);
  requests_.put_refresh_back();
  requests_.sleep(kWritePauseMs);
}

Result<InstancePlan> Supervisor::read_plan() {
  return await(
      std::async(std::launch::async, [this] { return host_.plan_of(vnfs_, live_.state()); }));
}

void Supervisor::show_serving() {
  std::string problems = lines_of(paths_.problems_file);
  if (vips_.holds_back())
    problems += fmt::format("{}{}", problems.empty() ? "" : "; ", vips_.held_text());
  say(problems);
  publish();
}

// --- what is shown

void Supervisor::say(const std::string& problem) {
  const bool names_it = problem.empty() || problem.starts_with("vnfs ");
  std::string text = names_it ? problem : fmt::format("vnfs {}: {}", vnfs_, problem);
  if (!text.empty() && text != problem_) log::warn("{}", text);
  problem_ = std::move(text);
}

void Supervisor::publish() {
  requests_.show([&](InstanceSnapshot& shown) {
    if (shown.since_ns == 0 || standing_of(shown.phase) != standing_of(life_.phase()))
      shown.since_ns = clock_.wall_ns();
    shown.phase = life_.phase();
    shown.error = problem_;
    shown.pid = live_.pid();
    const std::uint64_t epoch = live_.epoch().value();
    if (std::exchange(shown.epoch, epoch) == epoch) return;
    shown.first_request_ns = 0;
    shown.last_reclaim_ns = 0;
  });
}

}  // namespace symnas::vnfsd::instance
