#include "vnfsd/instance/supervisor.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "vnfsd/instance/crash_point.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/launcher.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/retire.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr std::int64_t kListenSliceMs = 100;   // how soon a stop is heard while an instance starts
constexpr std::int64_t kFencePauseMs = 500;    // between tries of a fence that cannot succeed yet
constexpr std::int64_t kClaimPauseMs = 50;     // the same to take it, when its clients wait
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
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      wanted_(wanted) {
  CHECK(wake_.valid(), "eventfd");
  thread_ = std::thread([this] { run(); });
}

Supervisor::~Supervisor() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void Supervisor::set_wanted(Wanted wanted) {
  {
    const std::scoped_lock lock(mutex_);
    if (wanted_ == wanted) return;
    wanted_ = wanted;
  }
  ::eventfd_write(wake_.get(), 1);
}

void Supervisor::refresh() {
  {
    const std::scoped_lock lock(mutex_);
    refresh_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
}

void Supervisor::end_instance(Epoch epoch, const std::string& why) {
  {
    const std::scoped_lock lock(mutex_);
    if (killed_ == epoch) return;
    end_ = {epoch, why};
  }
  ::eventfd_write(wake_.get(), 1);
}

InstanceSnapshot Supervisor::snapshot() const {
  const std::scoped_lock lock(mutex_);
  return snapshot_;
}

bool Supervisor::ending() const {
  const std::scoped_lock lock(mutex_);
  return ending_;
}

Wanted Supervisor::wanted() const {
  const std::scoped_lock lock(mutex_);
  return wanted_;
}

void Supervisor::show(const std::string& state, const std::string& why) {
  const bool names_it = why.empty() || why.starts_with("vnfs ");
  const std::string error = names_it ? why : fmt::format("vnfs {}: {}", vnfs_, why);
  const std::scoped_lock lock(mutex_);
  if (snapshot_.state != state) snapshot_.since_ns = clock_.wall_ns();
  if (!error.empty() && snapshot_.error != error) log::warn("{}", error);
  snapshot_.state = state;
  snapshot_.error = error;
  snapshot_.pid = process_ ? process_->id().pid : 0;
  if (std::exchange(snapshot_.epoch, state_.epoch.value()) == state_.epoch.value()) return;
  snapshot_.first_request_ns = 0;
  snapshot_.last_reclaim_ns = 0;
}

void Supervisor::sleep(std::int64_t timeout_ms) {
  pollfd entry{wake_.get(), POLLIN, 0};
  ::poll(&entry, 1, static_cast<int>(timeout_ms));
  eventfd_t count = 0;
  ::eventfd_read(wake_.get(), &count);
}

void Supervisor::run() {
  adopt();
  while (!ending()) {
    if (process_) {
      if (state_.standby) {
        attend_standby();
      } else if (wanted() != Wanted::kStarted || state_.retiring) {
        stop();
      } else if (!serving_) {
        finish_start();
      } else {
        watch_running();
      }
    } else if (!fenced_) {
      fence_until_done();
    } else if (wanted() == Wanted::kStopped) {
      stop();
    } else if (wanted() == Wanted::kPrepared) {
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
  auto process = Process::adopt(state_.process);
  if (!process) return;
  take_process(std::move(*process));
  // Nobody knows any more whether it was called.
  if (state_.standby || stands_by(paths_.control).value_or(false)) return discard_standby();
  adopted_ = true;
  has_vips_ = true;
  refresh();  // LUNs may have come while no vnfsd ran
  log::info("vnfs {}: adopted pid {}, epoch {}", vnfs_, state_.process.pid, state_.epoch.value());
  show("starting", "");
}

// From "the process exists" to "it serves". An adopted instance may have been left anywhere on this
// way: what is done already is done again without effect.
void Supervisor::finish_start() {
  if (pulse_watch_.ending()) return await_end();
  const Status listening = wait_until_listening();
  if (!listening && listening.error().code == ErrorCode::kShutdown) return;
  if (!listening) return give_up(listening.error());
  crash_point("listening", vnfs_);
  find_pulse();
  if (!may_show_vips()) return;
  if (held_.empty()) note(step::kListening);
  auto plan = claimed_ ? Result<InstancePlan>(*claimed_) : read_plan();
  claimed_.reset();
  if (!plan) {
    show("starting", plan.error().message);
    sleep(kFencePauseMs);
    return;
  }
  add_missing(plan->connections, left_);
  if (burial_.valid()) burial_.get();
  if (!may_show_vips()) return;  // reading the plan may have taken long
  const auto vips = take_vips(*plan);
  if (!vips) return give_up(vips.error());
  if (*vips == Vips::kTaken) return sleep(kVipRetryMs);
  vips_ = *plan;
  left_.clear();
  {
    const std::scoped_lock lock(mutex_);
    end_.reset();  // what was said of it while it started
    snapshot_.silent = false;
  }
  crash_point("announced", vnfs_);
  serving_ = true;
  note(step::kServing);
  policy_.served(now_ms());
  wake_again(std::move(plan->connections));
  log::info("vnfs {}: serving: pid {}, epoch {}", vnfs_, process_->id().pid, state_.epoch.value());
  auto told = std::async(std::launch::async, [this] { return host_.served(vnfs_, arrival_); });
  attend_pulse_until(told);
  if (const Status status = told.get(); !status) log::warn("{}", status.error().message);
  arrival_ = {};
  if (!pulse_watch_.hidden()) show_serving();
}

void Supervisor::wake_again(std::vector<Connection> connections) {
  to_wake_ = std::move(connections);
  // Lives of less than a second could leave more than a record takes; the oldest are the last.
  if (std::ssize(to_wake_) > kUnheardMax)
    to_wake_.erase(to_wake_.begin() + kUnheardMax, to_wake_.end());
  wake_at_ms_ = now_ms() + kWakeAgainMs;
  const std::scoped_lock lock(mutex_);
  snapshot_.unheard.clear();
  for (Connection& connection : to_wake_) {
    connection.sequence.reset();  // whoever has ignored a reset ignores its repetition, too
    snapshot_.unheard.push_back(connection.to_string());
  }
}

std::vector<Connection> Supervisor::take_unheard() {
  const std::scoped_lock lock(mutex_);
  snapshot_.unheard.clear();
  return std::exchange(to_wake_, {});
}

void Supervisor::take_process(Process process) {
  auto netns = process.network_namespace();
  if (netns) netns_ = std::move(*netns);
  process_.emplace(std::move(process));
  pulse_.reset();
  claimed_.reset();
  pulse_watch_ = {};
  has_vips_ = false;
}

// REQUIRES: it has ended.
void Supervisor::lose_process() {
  process_.reset();
  question_.reset();
  if (!netns_.valid()) return;
  burial_ = std::async(std::launch::async,
                       [netns = std::move(netns_)] { delete_vip_links(netns.get()); });
}

void Supervisor::give_up(const Error& error) {
  end_process(error.message);
  const auto how = process_->wait(kKillTimeoutMs);
  if (!how) return await_end();
  after_end(*how);
  // What the instance said itself is the cause of what was seen from outside.
  const std::string said = lines_of(paths_.problems_file);
  show("fencing", said.empty() ? error.message : said);
}

// Until the instance ends or something is asked for.
void Supervisor::watch_running() {
  // While its VIPs are down the store is away, and waiting for it would keep them down.
  if (!refreshed() && !is_telling() && !pulse_watch_.hidden()) rewrite_instance_file();
  kill_if_told();
  attend_pulse();
  pollfd entries[] = {{process_->pidfd(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  ::poll(entries, 2, static_cast<int>(pulse_watch_.hidden() ? kHiddenLookMs : kPulseLookMs));
  if (!to_wake_.empty() && !pulse_watch_.hidden() && now_ms() >= wake_at_ms_)
    wake_clients(take_unheard(), netns_.get());
  if (!held_.empty() && !pulse_watch_.hidden() && now_ms() >= try_vips_ms_) try_held_vips();
  if (entries[1].revents != 0) sleep(0);
  if (entries[0].revents != 0) {
    const auto how = process_->wait(0);
    after_end(how ? *how : "unknown");
  }
}

// What comes of it shows when the process has ended.
void Supervisor::kill_if_told() {
  std::optional<std::pair<Epoch, std::string>> told;
  {
    const std::scoped_lock lock(mutex_);
    told.swap(end_);
    if (!told || told->first != state_.epoch) return;
    killed_ = told->first;
  }
  end_process(told->second);
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
  adopted_ = false;
  fenced_ = false;
  pause_ms_ = policy_.ended(now_ms());
  {
    const std::scoped_lock lock(mutex_);
    snapshot_.last_exit = how;
    ++snapshot_.restarts;
  }
  show("fencing", "");
}

void Supervisor::fence_until_done() {
  show("fencing", snapshot().error);
  const Status fenced = host_.fence(vnfs_);
  fenced_ = fenced.has_value();
  records::Departure& departure =
      farewell_.departure.epoch() != 0 ? farewell_.departure : arrival_.last;
  if (fenced_ && departure.epoch() != 0) {
    add_step(*departure.mutable_steps(), step::kProved, clock_.wall_ns());
  }
  if (fenced_) return;
  show("fencing", fenced.error().message);
  sleep(kFencePauseMs);
}

// What others have changed meanwhile is no failure of its own.
std::int64_t Supervisor::pause_after(const Error& error) {
  return error.code == ErrorCode::kConflict ? kConflictPauseMs : policy_.ended(now_ms());
}

void Supervisor::start() {
  if (pause_ms_ > 0) {
    show("waiting", snapshot().error);
    const std::int64_t until = now_ms() + pause_ms_;
    while (!ending() && wanted() == Wanted::kStarted && now_ms() < until) sleep(until - now_ms());
    pause_ms_ = 0;
    return;
  }
  released_ = false;
  show("starting", snapshot().error);
  const Status started = start_once();
  if (started) return show("starting", "");
  pause_ms_ = pause_after(started.error());
  show(fenced_ ? "waiting" : "fencing", started.error().message);
}

Status Supervisor::start_once() {
  SYMNAS_ASSIGN(const InstancePlan plan, host_.claim(vnfs_, std::nullopt));
  arrival_.steps.Clear();
  note(step::kClaimed);
  fenced_ = false;  // from now on there may be something to fence
  SYMNAS_TRY(launch_instance(plan));
  claimed_ = plan;
  note(step::kLaunched);
  return {};
}

Status Supervisor::launch_instance(const InstancePlan& plan) {
  SYMNAS_ASSIGN(const std::string conf, render_ganesha_conf(plan, fsal_));
  SYMNAS_TRY(prepare_directory(plan, conf));
  serving_ = false;
  arrival_.epoch = plan.epoch;
  farewell_ = {};
  const bool has_time = plan.standby && !plan.is_awaited;
  question_ =
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

void Supervisor::prepare() {
  if (pause_ms_ > 0) {
    sleep(std::exchange(pause_ms_, 0));
    return;
  }
  show("starting", snapshot().error);
  const Status prepared = prepare_once();
  if (!prepared) {
    if (process_) discard_standby();
    pause_ms_ = held_.empty() ? pause_after(prepared.error()) : kVipRetryMs;
    if (wanted() == Wanted::kStarted) pause_ms_ = 0;  // it is done in another way now
    return show("waiting", prepared.error().message);
  }
  log::info("vnfs {}: prepared: pid {}, epoch {}", vnfs_, process_->id().pid, state_.epoch.value());
  crash_point("prepared", vnfs_);
  note(step::kPrepared);
  show("prepared", "");
  host_.prepared(vnfs_);
}

Status Supervisor::prepare_once() {
  SYMNAS_ASSIGN(prepared_, host_.prepare(vnfs_));
  arrival_ = {};
  SYMNAS_TRY(launch_instance(prepared_));
  crash_point("standby launched", vnfs_);
  SYMNAS_TRY(wait_standing_by(*process_, paths_.control, kStandbyTimeoutMs));
  look_for_holders(prepared_);
  if (held_.empty()) return {};
  return fail(ErrorCode::kBusy, text_of(held_));
}

// It has nothing that could reach a LUN or a client: without a fence.
void Supervisor::discard_standby() {
  process_->kill();
  if (!process_->wait(kKillTimeoutMs)) {
    show("stopping", fmt::format("pid {} survives SIGKILL", process_->id().pid));
    return;
  }
  log::info("vnfs {}: not needed any more: pid {}, epoch {}", vnfs_, state_.process.pid,
            state_.epoch.value());
  lose_process();
  state_.standby = false;
  arrival_ = {};
}

void Supervisor::attend_standby() {
  switch (wanted()) {
    case Wanted::kStopped: return discard_standby();
    case Wanted::kStarted: return call_standby();
    case Wanted::kPrepared: break;
  }
  pollfd entries[] = {{process_->pidfd(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  ::poll(entries, 2, -1);
  if (entries[1].revents != 0) sleep(0);
  if (entries[0].revents == 0) return;
  log::warn("vnfs {}: ended before it was needed: pid {} (its log is {})", vnfs_,
            process_->id().pid, paths_.log);
  discard_standby();
  pause_ms_ = policy_.ended(now_ms());
  show("waiting", "");
}

// From here on it may open LUNs: it is an instance like any other.
void Supervisor::call_standby() {
  show("starting", "");
  released_ = false;  // whatever comes of it
  const auto plan = host_.claim(vnfs_, state_.epoch);
  if (!plan) {
    show("starting", plan.error().message);
    sleep(kClaimPauseMs);
    return;
  }
  if (!may_call(prepared_, *plan)) return discard_standby();  // start() claims again
  crash_point("claimed", vnfs_);
  note(step::kClaimed);
  fenced_ = false;
  question_ = std::make_unique<VipQuestion>(plan->links, 0, kVipAskMs);  // it was asked before
  state_.standby = false;
  state_.owner_mod_revision = plan->owner_mod_revision;
  remember_luns(*plan);
  claimed_ = *plan;
  Status called = write_file_atomically(paths_.state_file, render_state(state_), 0600);
  if (called) called = write_instance_file(*plan);
  crash_point("recorded", vnfs_);
  if (called) called = serve(paths_.control);
  crash_point("called", vnfs_);
  if (!called) give_up(called.error());
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
    if (ending()) return fail(ErrorCode::kShutdown, "vnfsd is ending");
    if (wanted() == Wanted::kStopped) return fail(ErrorCode::kShutdown, "stopped while it started");
    if (now_ms() >= until) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("instance: does not listen after {} ms (its log is {})",
                              kListenTimeoutMs, paths_.log));
    }
  }
}

bool Supervisor::refreshed() const {
  const std::scoped_lock lock(mutex_);
  // A standby gets its file when it is called.
  return !refresh_ || snapshot_.pid == 0 || snapshot_.state == "prepared";
}

void Supervisor::rewrite_instance_file() {
  {
    const std::scoped_lock lock(mutex_);
    refresh_ = false;
  }
  const auto plan = read_plan();
  Status written = plan ? Status() : tl::unexpected<Error>(plan.error());
  if (written && remember_luns(*plan)) {  // before the instance can open them
    written = write_file_atomically(paths_.state_file, render_state(state_), 0600);
  }
  if (written) written = write_instance_file(*plan);
  if (written) return tell_exports(*plan);
  log::error("vnfs {}: {}: {}", vnfs_, paths_.instance_file, written.error().message);
  {
    const std::scoped_lock lock(mutex_);
    refresh_ = true;
  }
  sleep(kFencePauseMs);
}

}  // namespace symnas::vnfsd::instance
