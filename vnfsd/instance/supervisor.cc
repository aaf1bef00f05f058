#include "vnfsd/instance/supervisor.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/instance/crash_point.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/instance_log.h"
#include "vnfsd/instance/launcher.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/retire.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr std::int64_t kListenSliceMs = 100;   // how soon a stop is heard while an instance starts
constexpr std::int64_t kFencePauseMs = 500;    // between tries of a fence that cannot succeed yet
constexpr std::int64_t kConflictPauseMs = 20;  // after a transaction that met another's

}  // namespace

Supervisor::Supervisor(std::string vnfs, InstancePaths paths, std::string incarnation, Host& host,
                       const FsalBlocks& fsal, const env::Clock& clock, Wanted wanted)
    : vnfs_(std::move(vnfs)),
      paths_(std::move(paths)),
      incarnation_(std::move(incarnation)),
      host_(host),
      fsal_(fsal),
      clock_(clock),
      requests_(wanted) {
  thread_ = std::thread([this] { run(); });
}

Supervisor::~Supervisor() {
  requests_.end();
  thread_.join();
}

void Supervisor::show(const std::string& state, const std::string& why) {
  const bool names_it = why.empty() || why.starts_with("vnfs ");
  const std::string error = names_it ? why : fmt::format("vnfs {}: {}", vnfs_, why);
  requests_.show([&](InstanceSnapshot& shown) {
    if (shown.state != state) shown.since_ns = clock_.wall_ns();
    if (!error.empty() && shown.error != error) log::warn("{}", error);
    shown.state = state;
    shown.error = error;
    shown.pid = process_ ? process_->id().pid : 0;
    if (std::exchange(shown.epoch, state_.epoch.value()) == state_.epoch.value()) return;
    shown.first_request_ns = 0;
    shown.last_reclaim_ns = 0;
  });
}

void Supervisor::run() {
  adopt();
  while (!requests_.ending()) {
    if (process_) {
      if (state_.standby) {
        attend_standby();
      } else if (requests_.wanted() != Wanted::kStarted || state_.retiring || may_restart()) {
        stop();
      } else if (!progress_.serving) {
        finish_start();
      } else {
        watch_running();
      }
    } else if (!progress_.fenced) {
      fence_until_done();
    } else if (requests_.wanted() == Wanted::kStopped) {
      stop();
    } else if (requests_.wanted() == Wanted::kPrepared) {
      prepare();
    } else {
      start();
    }
  }
  if (process_ && state_.standby) discard_standby();  // nobody else will call it
}

void Supervisor::adopt() {
  const auto text = read_file(paths_.state_file);
  if (!text) return;
  const auto state = parse_state(*text);
  if (!state) {
    log::error("vnfs {}: {}: {} (its instance is looked for by its locks instead)", vnfs_,
               paths_.state_file, state.error().message);
    return;
  }
  state_ = *state;
  if (state_.incarnation != incarnation_) return;  // the head was rebooted: nothing runs
  add_missing(unheard_.left, connections_from(state_.connections));
  auto process = Process::adopt(state_.process);
  if (!process) return;
  take_process(std::move(*process));
  // Nobody knows any more whether it was called.
  if (state_.standby || stands_by(paths_.control).value_or(false)) return discard_standby();
  progress_.adopted = true;
  vips_.up = true;
  refresh();  // LUNs may have come while no vnfsd ran
  log::info("vnfs {}: adopted pid {}, epoch {}", vnfs_, state_.process.pid, state_.epoch.value());
  show("starting", "");
}

// From "the process exists" to "it serves". An adopted instance may have been left anywhere on this
// way: what is done already is done again without effect.
void Supervisor::finish_start() {
  if (pulse_.watch.ending()) return await_end();
  const Status listening = wait_until_listening();
  if (!listening && listening.error().code == ErrorCode::kShutdown) return;
  if (!listening) return give_up(listening.error());
  crash_point("listening", vnfs_);
  find_pulse();
  if (!may_show_vips()) return;
  if (vips_.held.empty()) note(step::kListening);
  auto plan = claimed_ ? Result<InstancePlan>(*claimed_) : read_plan();
  claimed_.reset();
  if (!plan) {
    show("starting", plan.error().message);
    requests_.sleep(kFencePauseMs);
    return;
  }
  add_missing(plan->connections, unheard_.left);
  if (burial_.valid()) burial_.get();
  if (!may_show_vips()) return;  // reading the plan may have taken long
  const auto vips = take_vips(*plan);
  if (!vips) return give_up(vips.error());
  if (*vips == VipsUp::kTaken) return requests_.sleep(kVipRetryMs);
  vips_.plan = *plan;
  unheard_.left.clear();
  requests_.forget_end();  // what was said of it while it started
  requests_.show([](InstanceSnapshot& shown) { shown.silent = false; });
  crash_point("announced", vnfs_);
  progress_.serving = true;
  note(step::kServing);
  policy_.served(now_ms());
  wake_again(std::move(plan->connections));
  log::info("vnfs {}: serving: pid {}, epoch {}", vnfs_, process_->id().pid, state_.epoch.value());
  auto told = std::async(std::launch::async, [this] { return host_.served(vnfs_, arrival_); });
  attend_pulse_until(told);
  if (const Status status = told.get(); !status) log::warn("{}", status.error().message);
  arrival_ = {};
  if (!pulse_.watch.hidden()) show_serving();
}

void Supervisor::wake_again(std::vector<Connection> connections) {
  unheard_.to_wake = std::move(connections);
  // Lives of less than a second could leave more than a record takes; the oldest are the last.
  if (std::ssize(unheard_.to_wake) > kUnheardMax)
    unheard_.to_wake.erase(unheard_.to_wake.begin() + kUnheardMax, unheard_.to_wake.end());
  unheard_.wake_at_ms = now_ms() + kWakeAgainMs;
  requests_.show([&](InstanceSnapshot& shown) {
    shown.unheard.clear();
    for (Connection& connection : unheard_.to_wake) {
      connection.sequence.reset();  // whoever has ignored a reset ignores its repetition, too
      shown.unheard.push_back(connection.to_string());
    }
  });
}

std::vector<Connection> Supervisor::take_unheard() {
  requests_.show([](InstanceSnapshot& shown) { shown.unheard.clear(); });
  return std::exchange(unheard_.to_wake, {});
}

void Supervisor::take_process(Process process) {
  auto netns = process.network_namespace();
  if (netns) netns_ = std::move(*netns);
  process_.emplace(std::move(process));
  pulse_.reader.reset();
  claimed_.reset();
  pulse_.watch = {};
  vips_.up = false;
  vips_.announcements.stop();
}

// REQUIRES: it has ended.
void Supervisor::lose_process() {
  process_.reset();
  vips_.question.reset();
  if (!netns_.valid()) return;
  burial_ = std::async(std::launch::async,
                       [netns = std::move(netns_)] { delete_vip_links(netns.get()); });
}

void Supervisor::give_up(const Error& error) {
  end_process(error.message);
  const auto how = process_->wait(kKillTimeoutMs);
  if (!how) return await_end();
  after_end(*how);
  // The problem that the instance reported itself is the cause of what was seen from outside.
  const std::string said = lines_of(paths_.problems_file);
  show("fencing", said.empty() ? error.message : said);
}

// Until the instance ends or something is asked for.
void Supervisor::watch_running() {
  // While its VIPs are down the store is away, and waiting for it would keep them down.
  if (!refreshed() && !is_telling() && !pulse_.watch.hidden()) rewrite_instance_file();
  kill_if_told();
  attend_pulse();
  bound_log_now_and_then();
  pollfd entries[] = {{process_->pidfd(), POLLIN, 0}, {requests_.fd(), POLLIN, 0}};
  ::poll(entries, 2, static_cast<int>(pulse_.watch.hidden() ? kHiddenLookMs : kPulseLookMs));
  if (!unheard_.to_wake.empty() && !pulse_.watch.hidden() && now_ms() >= unheard_.wake_at_ms)
    wake_clients(take_unheard(), netns_.get());
  if (!vips_.held.empty() && !pulse_.watch.hidden() && now_ms() >= vips_.try_ms) try_held_vips();
  if (vips_.announcements.is_due(now_ms())) announce_again();
  if (entries[1].revents != 0) requests_.sleep(0);
  if (entries[0].revents != 0) {
    const auto how = process_->wait(0);
    after_end(how ? *how : "unknown");
  }
}

void Supervisor::bound_log_now_and_then() {
  if (now_ms() < log_.look_ms) return;
  log_.look_ms = now_ms() + kLogLookMs;
  const auto done = std::future_status::ready;
  if (log_.looking.valid() && log_.looking.wait_for(std::chrono::seconds(0)) != done) return;
  log_.looking = std::async(std::launch::async, [vnfs = vnfs_, path = paths_.log] {
    const auto bounded = bound_log(path, kLogBytesMax);
    if (!bounded) log::warn("vnfs {}: its log: {}", vnfs, bounded.error().message);
    if (bounded && *bounded)
      log::info("vnfs {}: its log was too large: it begins anew, and is kept as {}", vnfs,
                former_log(path));
  });
}

// The consequences show when the process has ended.
void Supervisor::kill_if_told() {
  if (const auto why = requests_.take_end(state_.epoch)) end_process(*why);
}

void Supervisor::after_end(const std::string& how) {
  log::warn("vnfs {}: instance pid {}, epoch {}: ended: {}", vnfs_, state_.process.pid,
            state_.epoch.value(), how);
  host_.ended(vnfs_, state_.epoch, how);
  if (arrival_.last.epoch() == 0) {  // else: its clients have been waiting since an earlier end
    arrival_.last.set_epoch(state_.epoch.value());
    arrival_.last.set_cause(records::DEPARTURE_ENDED);
    arrival_.last.set_error(how);
    add_step(*arrival_.last.mutable_steps(), step::kEnded, clock_.wall_ns());
  }
  lose_process();
  progress_.adopted = false;
  progress_.fenced = false;
  pause_ms_ = policy_.ended(now_ms());
  requests_.show([&](InstanceSnapshot& shown) {
    shown.last_exit = how;
    ++shown.restarts;
  });
  show("fencing", "");
}

void Supervisor::fence_until_done() {
  show("fencing", snapshot().error);
  const Status fenced = host_.fence(vnfs_);
  progress_.fenced = fenced.has_value();
  records::Departure& departure =
      farewell_.departure.epoch() != 0 ? farewell_.departure : arrival_.last;
  if (progress_.fenced && departure.epoch() != 0) {
    add_step(*departure.mutable_steps(), step::kProved, clock_.wall_ns());
  }
  if (progress_.fenced) return;
  show("fencing", fenced.error().message);
  requests_.sleep(kFencePauseMs);
}

// A conflict with a change of somebody else is no failure of the instance.
std::int64_t Supervisor::pause_after(const Error& error) {
  return error.code == ErrorCode::kConflict ? kConflictPauseMs : policy_.ended(now_ms());
}

void Supervisor::start() {
  if (pause_ms_ > 0) {
    show("waiting", snapshot().error);
    const std::int64_t until = now_ms() + pause_ms_;
    while (!requests_.ending() && requests_.wanted() == Wanted::kStarted && now_ms() < until)
      requests_.sleep(until - now_ms());
    pause_ms_ = 0;
    return;
  }
  progress_.released = false;
  show("starting", snapshot().error);
  const Status started = start_once();
  if (started) return show("starting", "");
  pause_ms_ = pause_after(started.error());
  show(progress_.fenced ? "waiting" : "fencing", started.error().message);
}

Status Supervisor::start_once() {
  SYMNAS_ASSIGN(const InstancePlan plan, host_.claim(vnfs_, std::nullopt));
  arrival_.steps.Clear();
  note(step::kClaimed);
  progress_.fenced = false;  // from now on there may be something to fence
  SYMNAS_TRY(launch_instance(plan));
  claimed_ = plan;
  note(step::kLaunched);
  return {};
}

Status Supervisor::launch_instance(const InstancePlan& plan) {
  SYMNAS_ASSIGN(const std::string conf, render_ganesha_conf(plan, fsal_));
  SYMNAS_TRY(prepare_directory(plan, conf));
  progress_.serving = false;
  arrival_.epoch = plan.epoch;
  farewell_ = {};
  const bool has_time = plan.standby && !plan.is_awaited;
  vips_.question =
      std::make_unique<VipQuestion>(plan.links, has_time ? kVipAskMs : kVipAskMinMs, kVipAskMs);
  SYMNAS_ASSIGN(Process process, launch(plan, [&](const Process& created) {
                  state_ = {created.id(),     plan.epoch, plan.incarnation, plan.owner_mod_revision,
                            clock_.wall_ns(), {}};
                  state_.standby = plan.standby;
                  remember_luns(plan);
                  return write_file_atomically(paths_.state_file, render_state(state_), 0600);
                }));
  take_process(std::move(process));
  return {};
}

void Supervisor::note(std::string_view name) { add_step(arrival_.steps, name, clock_.wall_ns()); }

// Adds the plan's LUNs to the state; what is known already stays, the instance has opened that.
bool Supervisor::remember_luns(const InstancePlan& plan) {
  bool added = false;
  for (const LunPath& lun : plan.luns) {
    const bool known =
        std::any_of(state_.luns.begin(), state_.luns.end(),
                    [&](const LunIdentity& identity) { return identity.uuid == lun.uuid; });
    if (known) continue;
    state_.luns.push_back({lun.uuid, lun.lock_device, lun.lock_inode});
    added = true;
  }
  return added;
}

Status Supervisor::wait_until_listening() {
  const std::int64_t until = now_ms() + kListenTimeoutMs;
  for (;;) {
    const Status listening = wait_listening(*process_, netns_.get(), kListenSliceMs);
    if (listening || listening.error().code != ErrorCode::kUnavailable) return listening;
    if (requests_.ending()) return fail(ErrorCode::kShutdown, "vnfsd is ending");
    if (requests_.wanted() == Wanted::kStopped)
      return fail(ErrorCode::kShutdown, "stopped while it started");
    if (now_ms() >= until) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("instance: does not listen after {} ms (its log is {})",
                              kListenTimeoutMs, paths_.log));
    }
  }
}

void Supervisor::rewrite_instance_file() {
  requests_.take_refresh();
  const auto plan = read_plan();
  Status written = plan ? Status() : tl::unexpected<Error>(plan.error());
  if (written && remember_luns(*plan)) {  // before the instance can open them
    written = write_file_atomically(paths_.state_file, render_state(state_), 0600);
  }
  if (written) written = write_instance_file(*plan);
  if (written) return tell_exports(*plan);
  log::error("vnfs {}: {}: {}", vnfs_, paths_.instance_file, written.error().message);
  requests_.put_refresh_back();
  requests_.sleep(kFencePauseMs);
}

}  // namespace symnas::vnfsd::instance
